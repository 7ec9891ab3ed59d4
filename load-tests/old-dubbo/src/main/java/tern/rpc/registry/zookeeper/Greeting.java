package tern.rpc.registry.zookeeper;

/** The service interface used by the tests in rpc-registry-zookeeper. These tests start this program. */
public interface Greeting {
    String greet(String text);
}
