package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.thread.Threading;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import tern.rpc.server.RpcServer;

/**
 * Selects platform threads or virtual threads for calls. The server runs the same number of concurrent calls with
 * either kind.
 */
enum WorkerThreads {
    PLATFORM("platform threads") {
        @Override
        void applyTo(RpcServer.Builder server) {
            // The server uses platform threads by default, so no executor needs to be set.
        }
    },

    VIRTUAL("virtual threads") {
        @Override
        void applyTo(RpcServer.Builder server) {
            server.threads(new VirtualThreadTaskExecutor("rpc-worker-").getVirtualThreadFactory(), Duration.ZERO);
        }
    };

    private static final Logger LOG = LoggerFactory.getLogger(WorkerThreads.class);
    private static final String PROPERTY = "spring.threads.virtual.enabled";

    private final String label;

    WorkerThreads(String label) {
        this.label = label;
    }

    static WorkerThreads of(Environment environment) {
        if (Threading.VIRTUAL.isActive(environment)) {
            return VIRTUAL;
        }
        if (environment.getProperty(PROPERTY, boolean.class, false)) {
            LOG.warn(
                    "{} does nothing on Java {}: virtual threads need Java 21; RPC calls run on platform threads",
                    PROPERTY,
                    Runtime.version().feature());
        }
        return PLATFORM;
    }

    abstract void applyTo(RpcServer.Builder server);

    @Override
    public String toString() {
        return label;
    }
}
