package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timeouts that Tern sets in a client of another library because the application does not set them. Tern logs these
 * timeouts at startup, because their source would otherwise be hard to find.
 */
final class TunedTimeouts {

    private static final Logger LOG = LoggerFactory.getLogger(TunedTimeouts.class);

    private final List<String> set = new ArrayList<>();

    TunedTimeouts add(String property, Duration timeout) {
        set.add(property + "=" + SettingOrigins.text(timeout));
        return this;
    }

    /** Logs the timeouts in one line. Does nothing if there are none. */
    void log(String client) {
        if (!set.isEmpty()) {
            LOG.info(
                    "{}: Tern sets {}, because the application does not; rpc.pools.tuned=false keeps the library's"
                            + " values",
                    client,
                    String.join(", ", set));
        }
    }
}
