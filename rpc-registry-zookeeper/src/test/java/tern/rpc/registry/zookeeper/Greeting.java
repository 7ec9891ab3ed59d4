package tern.rpc.registry.zookeeper;

/** The service that providers of Tern and of Dubbo offer. */
public interface Greeting {

    /** Returns the name of the provider and the text. */
    String greet(String text);
}
