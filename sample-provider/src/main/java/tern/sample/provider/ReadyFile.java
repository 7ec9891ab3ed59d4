package tern.sample.provider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Writes {@code pid}, {@code http.port} and {@code rpc.port} to the file named by the {@code sample.ready-file}
 * property, for use by scripts. The file becomes visible, with its complete content, when both ports accept
 * connections.
 */
@Component
class ReadyFile implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger log = LoggerFactory.getLogger(ReadyFile.class);

    private final Environment environment;

    ReadyFile(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        String httpPort = environment.getProperty("local.server.port", "");
        String rpcPort = environment.getProperty("local.rpc.port", "");
        log.info("Ready: http.port={} rpc.port={}", httpPort, rpcPort);
        String file = environment.getProperty("sample.ready-file", "");
        if (!file.isEmpty()) {
            write(
                    Path.of(file).toAbsolutePath(),
                    "pid=" + ProcessHandle.current().pid() + "\nhttp.port=" + httpPort + "\nrpc.port=" + rpcPort
                            + "\n");
        }
    }

    private static void write(Path file, String content) {
        try {
            Path unfinished = Files.createTempFile(file.getParent(), "ready", ".tmp");
            Files.writeString(unfinished, content);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new IllegalStateException("sample.ready-file is " + file + ", which cannot be written", e);
        }
    }
}
