package tern.rpc.transport;

import java.util.List;

/** Has type variables that a sub-interface binds. */
public interface KeyedStore<T, K> {

    List<T> byKeys(List<K> keys);
}
