package tern.rpc.spring.autoconfigure;

/** What the tests call. */
public interface GreetingService {

    String greet(String name);
}
