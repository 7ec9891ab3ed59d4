package slim.caller;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import tern.rpc.spring.RpcReference;

/** An application that references a service but exports none. */
@SpringBootApplication
public class CallerOnly {

    public interface Greetings {
        String greet(String name);
    }

    @RpcReference(url = "127.0.0.1:1")
    Greetings greetings;

    public static void main(String[] args) {
        SpringApplication.run(CallerOnly.class, args).close();
    }
}
