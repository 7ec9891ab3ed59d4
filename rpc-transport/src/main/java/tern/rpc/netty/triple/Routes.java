package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.ServiceLookup;

/** A cache of routes by path, for requests without a group or version. Thread-safe. */
final class Routes<R> {

    /** The maximum number of cached paths (docs/limits.md). Only paths of exported methods are cached. */
    private static final int MAX_ROUTES = 1_024;

    private static final int MAX_PATH = 1_024;

    /** The cached routes of one server. One {@link HttpForm} can serve several servers. */
    private record Known<R>(ServiceLookup services, ConcurrentMap<AsciiString, R> byPath) {}

    private final BiFunction<ServiceLookup, Http2Headers, R> finder;
    private volatile @Nullable Known<R> known;

    /**
     * @param finder finds the route for the headers of a request; its result must depend only on the path, the group
     *     and the version
     */
    Routes(BiFunction<ServiceLookup, Http2Headers, R> finder) {
        this.finder = finder;
    }

    /** Returns the route for a request, from the cache if possible and otherwise from the finder. */
    R of(ServiceLookup services, Http2Headers head) {
        if (!(head.path() instanceof AsciiString path)
                || head.contains(GrpcHeaders.GROUP)
                || head.contains(GrpcHeaders.VERSION)
                || head.contains(HeadFields.REST_GROUP)
                || head.contains(HeadFields.REST_VERSION)) {
            return finder.apply(services, head);
        }
        Known<R> current = known;
        if (current == null || current.services != services) {
            current = new Known<>(services, new ConcurrentHashMap<>());
            known = current;
        }
        R route = current.byPath.get(path);
        if (route == null) {
            route = finder.apply(services, head);
            if (current.byPath.size() < MAX_ROUTES && isPlain(path)) {
                current.byPath.put(path, route);
            }
        }
        return route;
    }

    /**
     * Returns whether a path may be cached. A path with an escape, a query or a fragment is not cached. A path has any
     * number of such spellings, which could fill the cache.
     */
    private static boolean isPlain(AsciiString path) {
        return path.length() <= MAX_PATH
                && path.indexOf('?', 0) < 0
                && path.indexOf('%', 0) < 0
                && path.indexOf('#', 0) < 0;
    }
}
