package tern.rpc.registry.zookeeper;

/** The interface of the tests in rpc-registry-zookeeper, which run this program. */
public interface Greeting {
    String greet(String text);
}
