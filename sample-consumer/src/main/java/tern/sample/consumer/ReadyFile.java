package tern.sample.consumer;

import java.io.IOException;
import java.nio.file.Path;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Writes {@code pid} and {@code http.port} to the file named by the {@code sample.ready-file} property, for use by
 * scripts.
 */
@Component
class ReadyFile implements ApplicationListener<ApplicationReadyEvent> {

    private final Environment environment;

    ReadyFile(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        String file = environment.getProperty("sample.ready-file", "");
        if (file.isEmpty()) {
            return;
        }
        try {
            AtomicFile.write(
                    Path.of(file),
                    "pid=" + ProcessHandle.current().pid() + "\nhttp.port="
                            + environment.getProperty("local.server.port", "") + "\n");
        } catch (IOException e) {
            throw new IllegalStateException("sample.ready-file is " + file + ", which cannot be written", e);
        }
    }
}
