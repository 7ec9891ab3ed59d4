package startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with Spring Boot only. */
@SpringBootApplication
public class PlainApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(PlainApplication.class, arguments);
    }
}
