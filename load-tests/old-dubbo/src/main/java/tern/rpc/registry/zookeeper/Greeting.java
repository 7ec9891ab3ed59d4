package tern.rpc.registry.zookeeper;

/** The service interface of the tests in rpc-registry-zookeeper that start this program. */
public interface Greeting {
    String greet(String text);
}
