package tern.rpc.console;

import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.context.ApplicationContext;
import org.springframework.util.function.SingletonSupplier;
import tern.rpc.NanoClock;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.server.RpcServer;
import tools.jackson.databind.json.JsonMapper;

/** The objects that make up the console. Each object is created when it is first used. Thread-safe. */
final class Console {

    private final Supplier<Json> json = SingletonSupplier.of(Json::new);
    private final ConsoleFiles files = new ConsoleFiles();
    private final String instance = UUID.randomUUID().toString();
    private final Supplier<String> lastElement;
    private final Supplier<ConsoleCalls> calls;
    private final Supplier<ServiceCatalog> services;
    private final Supplier<LiveData> live;
    private final Supplier<SettingList> settings;

    Console(ConsoleAccess access, ApplicationContext context) {
        ObjectProvider<PathMappedEndpoints> paths = context.getBeanProvider(PathMappedEndpoints.class);
        this.lastElement = () -> lastElementOf(paths);
        Supplier<@Nullable RpcServer> server = access.server();
        Supplier<@Nullable JsonFormat> format = access.format();
        this.calls = SingletonSupplier.of(
                () -> new ConsoleCalls(json.get(), instance, access, server, format, NanoClock.SYSTEM));
        this.services = SingletonSupplier.of(() -> new ServiceCatalog(
                server,
                format,
                context.getBeanProvider(JsonMapper.class)
                        .getIfAvailable(() -> JsonMapper.builder().build())));
        this.live = SingletonSupplier.of(() ->
                new LiveData(json.get(), context, access, instance, context.getBeanProvider(RpcReportPart.class)));
        this.settings = SingletonSupplier.of(() -> new SettingList(context, json.get()));
    }

    private static String lastElementOf(ObjectProvider<PathMappedEndpoints> paths) {
        PathMappedEndpoints known = paths.getIfAvailable();
        String path = known == null ? null : known.getPath(EndpointId.of(RpcConsoleEndpoint.ID));
        return path == null ? RpcConsoleEndpoint.PATH : path.substring(path.lastIndexOf('/') + 1);
    }

    ConsoleFiles files() {
        return files;
    }

    ConsoleFiles.@Nullable File page() {
        return files.page(lastElement.get());
    }

    Json json() {
        return json.get();
    }

    ConsoleCalls calls() {
        return calls.get();
    }

    /**
     * Returns the data of the view with the given name; null if there is no such view.
     *
     * @param since the value of {@code next} in the last answer that the page received for the view {@code now}; null
     *     if there was none
     */
    @Nullable
    Map<String, Object> data(String name, @Nullable String since) {
        return switch (name) {
            case "now" -> live.get().now(since);
            case "services" -> services.get().report(live.get().meters(), instance);
            case "slow" -> live.get().slow();
            case "why" -> live.get().why();
            case "outgoing" -> live.get().outgoing();
            case "settings" -> settings.get().report();
            default -> null;
        };
    }

    /** Returns all data of the console as plain text for a support ticket. */
    String text() {
        return TextReport.of(files.version(), live.get(), settings.get());
    }
}
