package example;

public interface GreetingService {

    String greet(String name);
}
