package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.ServiceLookup;

/**
 * What paths lead to where a request names neither group nor version, found once for each path that leads anywhere.
 * Thread-safe.
 */
final class Routes<R> {

    /** docs/limits.md: caches that names on the wire fill. Only paths that lead somewhere are kept. */
    private static final int MOST = 1_024;

    /** Those of one server, since a form may serve several. */
    private record Known<R>(ServiceLookup services, ConcurrentMap<AsciiString, R> byPath) {}

    private final BiFunction<ServiceLookup, Http2Headers, R> finder;
    private volatile @Nullable Known<R> known;

    /** @param finder by the whole head; what it finds depends on path, group and version alone */
    Routes(BiFunction<ServiceLookup, Http2Headers, R> finder) {
        this.finder = finder;
    }

    /** What the finder finds, or has found before. */
    R of(ServiceLookup services, Http2Headers head) {
        if (!(head.path() instanceof AsciiString path)
                || head.contains(GrpcForm.GROUP)
                || head.contains(GrpcForm.VERSION)
                || head.contains(JsonForm.REST_GROUP)
                || head.contains(JsonForm.REST_VERSION)) {
            return finder.apply(services, head);
        }
        Known<R> present = known;
        if (present == null || present.services != services) {
            present = new Known<>(services, new ConcurrentHashMap<>());
            known = present;
        }
        R route = present.byPath.get(path);
        if (route == null) {
            route = finder.apply(services, head);
            if (present.byPath.size() < MOST && path.indexOf('?', 0) < 0) {
                present.byPath.put(path, route);
            }
        }
        return route;
    }
}
