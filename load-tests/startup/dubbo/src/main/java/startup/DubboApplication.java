package startup;

import java.util.Objects;
import org.apache.dubbo.config.annotation.DubboReference;
import org.apache.dubbo.config.annotation.DubboService;
import org.apache.dubbo.config.spring.context.annotation.EnableDubbo;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A provider of one service and a client of that service in one process. */
@SpringBootApplication
@EnableDubbo(scanBasePackages = "startup")
public class DubboApplication {

    /** The measured service. */
    public interface Greeting {
        String greet(String name);
    }

    @DubboService
    static class Greeter implements Greeting {
        @Override
        public String greet(String name) {
            return "hello " + name;
        }
    }

    @DubboReference(url = "dubbo://127.0.0.1:20991", scope = "remote", check = false)
    private @Nullable Greeting greeting; // Dubbo injects a proxy into this field.

    @Bean
    StartupProbe.FirstCall firstCall() {
        return () -> Objects.requireNonNull(greeting).greet("x");
    }

    public static void main(String[] arguments) {
        SpringApplication.run(DubboApplication.class, arguments);
    }
}
