package startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** A provider of one service and a client of that service in one process. */
@SpringBootApplication
public class TernApplication {

    /** The measured service. */
    public interface Greeting {
        String greet(String name);
    }

    @RpcService
    static class Greeter implements Greeting {
        @Override
        public String greet(String name) {
            return "hello " + name;
        }
    }

    @Bean
    StartupProbe.FirstCall firstCall(@RpcReference(url = "dubbo://127.0.0.1:20990") Greeting greeting) {
        return () -> greeting.greet("x");
    }

    public static void main(String[] arguments) {
        SpringApplication.run(TernApplication.class, arguments);
    }
}
