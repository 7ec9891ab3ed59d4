package tern.rpc.transport;

import java.util.List;

/** An interface whose type variables a sub-interface binds. */
public interface KeyedStore<T, K> {

    List<T> byKeys(List<K> keys);
}
