package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Maps properties of Spring Boot starters for gRPC to Tern's properties. If an application used such a starter before,
 * it may still contain these properties.
 */
final class GrpcStarterProperties {

    static final List<String> PREFIXES = List.of("spring.grpc", "grpc.server", "grpc.client");

    /**
     * Classes of the starters, and of gRPC's own servers and channels. If one of these classes is present, a library
     * other than Tern may use properties with the prefixes {@link #PREFIXES}.
     */
    private static final List<String> USERS = List.of(
            "org.springframework.grpc.server.GrpcServerFactory",
            "org.springframework.grpc.client.GrpcChannelFactory",
            "net.devh.boot.grpc.server.service.GrpcService",
            "net.devh.boot.grpc.client.inject.GrpcClient",
            "io.grpc.netty.NettyServerBuilder",
            "io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder",
            "io.grpc.okhttp.OkHttpChannelBuilder");

    /** Maps a property of a server, without the prefix, to Tern's property. */
    static final Map<String, String> OF_SERVERS = Map.of(
            "port", "rpc.server.port",
            "address", "rpc.server.address",
            "ssl.bundle", "rpc.server.ssl.bundle",
            "max-inbound-message-size", "rpc.limits.max-message",
            "shutdown-grace-period", "rpc.server.shutdown-timeout",
            "reflection.enabled", "rpc.server.reflection",
            "reflection-service-enabled", "rpc.server.reflection",
            "health.enabled", "rpc.server.health",
            "health-service-enabled", "rpc.server.health");

    /** Maps a property of a channel, without the prefix and the channel's name, to Tern's property. */
    static final Map<String, String> OF_CHANNELS = Map.of(
            "address", "rpc.client.services.<name>.url",
            "target", "rpc.client.services.<name>.url",
            "default-deadline", "rpc.client.services.<name>.timeout",
            "ssl.bundle", "rpc.client.services.<name>.ssl.bundle",
            "max-inbound-message-size", "rpc.limits.max-message");

    private GrpcStarterProperties() {}

    /**
     * Returns whether the class path contains a library that may read properties with the prefixes {@link #PREFIXES}.
     */
    static boolean mayBeRead(@Nullable ClassLoader loader) {
        return USERS.stream().anyMatch(name -> ClassUtils.isPresent(name, loader));
    }

    /** Returns Tern's property for a property of a starter; null if no property has the same meaning. */
    static @Nullable String ours(String name) {
        int server = name.indexOf("grpc.server.");
        return server >= 0
                ? OF_SERVERS.get(name.substring(server + "grpc.server.".length()))
                : OF_CHANNELS.entrySet().stream()
                        .filter(option -> name.endsWith("." + option.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElse(null);
    }
}
