package tern.rpc.netty.triple;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;

/**
 * A cache of {@link JsonRequestHead} objects by method and endpoint. The endpoints change while the client runs, so the
 * cache is emptied when it is full. Thread-safe.
 */
final class JsonRequestHeads {

    /** The maximum number of cached objects. Each concurrent caller can exceed the maximum by one. */
    static final int MAX_HEADS = 4_096;

    private final ConcurrentMap<Key, JsonRequestHead> heads = new ConcurrentHashMap<>();

    private record Key(ServiceKey service, MethodDescriptor method, String application, Endpoint endpoint) {}

    JsonRequestHead of(ServiceKey service, MethodDescriptor method, String application, Endpoint endpoint) {
        Key key = new Key(service, method, application, endpoint);
        JsonRequestHead known = heads.get(key);
        if (known != null) {
            return known;
        }
        if (heads.size() >= MAX_HEADS) {
            heads.keySet().stream().limit(MAX_HEADS / 4).toList().forEach(heads::remove);
        }
        JsonRequestHead added = new JsonRequestHead(service, method, application, endpoint.authority());
        heads.put(key, added);
        return added;
    }

    /** Returns the number of cached objects, for tests. */
    int size() {
        return heads.size();
    }
}
