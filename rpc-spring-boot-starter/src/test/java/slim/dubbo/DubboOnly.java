package slim.dubbo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * An application whose methods take and return ordinary Java objects, not protobuf messages. The application calls
 * itself over {@code dubbo} and over Triple, then exits.
 */
@SpringBootApplication
public class DubboOnly {

    public interface Greetings {
        String greet(String name);
    }

    @RpcService
    static class Polite implements Greetings {
        @Override
        public String greet(String name) {
            return "Good morning, " + name;
        }
    }

    static class Caller {
        @RpcReference(url = "dubbo://127.0.0.1:${local.rpc.port}", name = "by-dubbo")
        Greetings byDubbo;

        @RpcReference(url = "tri://127.0.0.1:${local.rpc.port}", name = "by-triple")
        Greetings byTriple;
    }

    @Bean
    @Lazy
    Caller caller() {
        return new Caller();
    }

    public static void main(String[] args) {
        try (ConfigurableApplicationContext context = SpringApplication.run(DubboOnly.class, args)) {
            Caller caller = context.getBean(Caller.class);
            System.out.println(caller.byDubbo.greet("Ada") + "; " + caller.byTriple.greet("Bob"));
        }
    }
}
