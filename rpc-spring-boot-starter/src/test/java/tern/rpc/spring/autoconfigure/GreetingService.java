package tern.rpc.spring.autoconfigure;

/** The usual service of the tests. */
public interface GreetingService {

    String greet(String name);
}
