package tern.rpc.netty;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;

/** Warns once for each header that cannot be sent because the protocol reserves its name. Thread-safe. */
public final class HeadersLeftOut {

    private static final Logger LOG = LoggerFactory.getLogger(HeadersLeftOut.class);

    /**
     * The maximum number of names to warn about. The number is limited, because applications might derive names from
     * their callers' input.
     */
    private static final int MAX_NAMES = 64;

    private final String wire;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** @param wire the protocols that reserve the names, as text for the warning */
    public HeadersLeftOut(String wire) {
        this.wire = wire;
    }

    /** Logs a warning about the header, unless a warning about it has already been logged. */
    public void warn(String name) {
        if (logged.size() < MAX_NAMES && logged.add(name)) {
            LOG.warn(
                    "The header '{}' is not sent over {}, because the protocol itself uses this name; give it another"
                            + " name, such as x-{} (further calls are not logged)",
                    PeerText.name(name),
                    wire,
                    PeerText.name(name));
        }
    }
}
