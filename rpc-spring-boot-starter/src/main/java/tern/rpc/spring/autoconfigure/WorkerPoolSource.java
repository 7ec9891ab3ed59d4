package tern.rpc.spring.autoconfigure;

import java.util.List;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting.Range;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.pool.SettingOrigins;

/** Reports the server's worker threads as a pool. */
final class WorkerPoolSource implements PoolSource {

    private final RpcServer server;
    private final ServerSettings settings;
    private final SettingOrigins origins;

    WorkerPoolSource(RpcServer server, ServerSettings settings, SettingOrigins origins) {
        this.server = server;
        this.settings = settings;
        this.origins = origins;
    }

    @Override
    public PoolSnapshot snapshot() {
        WorkerPool workers = server.workers();
        return PoolSnapshot.builder("workers", PoolKind.WORKERS, settings.threads())
                .now(workers.active(), Math.max(0, settings.threads() - workers.active()), workers.queued())
                .queueCapacity(settings.queueCapacity())
                .waitLimit(settings.maxQueueWait())
                .settings(List.of(
                        origins.setting("rpc.server.threads", settings.threads(), Source.TUNED, Use.MAX)
                                .accepting(new Range(1, ServerSettings.MAX_THREADS)),
                        origins.setting(
                                        "rpc.server.queue-capacity",
                                        settings.queueCapacity(),
                                        Source.TUNED,
                                        Use.QUEUE_CAPACITY)
                                .accepting(new Range(0, ServerSettings.MAX_QUEUED)),
                        origins.setting(
                                "rpc.server.max-queue-wait", settings.maxQueueWait(), Source.TUNED, Use.WAIT_LIMIT),
                        origins.setting(
                                "rpc.server.max-concurrency", server.controls().limit(), Source.LIBRARY, Use.OTHER)))
                .build();
    }
}
