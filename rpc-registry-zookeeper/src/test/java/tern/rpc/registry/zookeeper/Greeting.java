package tern.rpc.registry.zookeeper;

/** The service that Tern's and Dubbo's providers offer in these tests. */
public interface Greeting {

    /** Returns the provider's name followed by the given text. */
    String greet(String text);
}
