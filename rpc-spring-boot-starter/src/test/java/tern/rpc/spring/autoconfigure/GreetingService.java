package tern.rpc.spring.autoconfigure;

/** The service that most tests use. */
public interface GreetingService {

    String greet(String name);
}
