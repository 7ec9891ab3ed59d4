package startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application that contains only Spring Boot. */
@SpringBootApplication
public class PlainApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(PlainApplication.class, arguments);
    }
}
