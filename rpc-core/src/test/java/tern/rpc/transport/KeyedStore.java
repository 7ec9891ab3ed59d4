package tern.rpc.transport;

import java.util.List;

/** A generic interface. A sub-interface binds its type variables. */
public interface KeyedStore<T, K> {

    List<T> byKeys(List<K> keys);
}
