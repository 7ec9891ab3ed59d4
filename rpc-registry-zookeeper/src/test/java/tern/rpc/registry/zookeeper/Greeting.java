package tern.rpc.registry.zookeeper;

/** The service that Tern's and Dubbo's providers offer in these tests. */
public interface Greeting {

    /** Returns the name of the provider, and the text. */
    String greet(String text);
}
