package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.springframework.boot.jetty.JettyWebServer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting.Range;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;

/** Registers Jetty's threads as a pool. */
final class JettyWatch implements ApplicationListener<WebServerInitializedEvent> {

    private static final long NO_RECORD = -1;

    private final PoolSources sources;
    private final SettingOrigins origins;

    JettyWatch(PoolSources sources, SettingOrigins origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public void onApplicationEvent(WebServerInitializedEvent event) {
        if (event.getWebServer() instanceof JettyWebServer server
                && server.getServer().getThreadPool() instanceof QueuedThreadPool threads) {
            sources.add("jetty", () -> snapshot(threads));
        }
    }

    private PoolSnapshot snapshot(QueuedThreadPool threads) {
        int active = threads.getUtilizedThreads();
        return PoolSnapshot.builder("jetty", PoolKind.WORKERS, threads.getMaxThreads())
                .now(active, Math.max(0, threads.getMaxThreads() - active), threads.getQueueSize())
                .counts(NO_RECORD, NO_RECORD)
                .settings(List.of(
                        origins.setting("server.jetty.threads.max", threads.getMaxThreads(), Source.LIBRARY, Use.MAX)
                                .accepting(new Range(8, BusinessPools.MAX_THREADS))))
                .build();
    }
}
