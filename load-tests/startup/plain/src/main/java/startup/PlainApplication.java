package startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Nothing but Boot. */
@SpringBootApplication
public class PlainApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(PlainApplication.class, arguments);
    }
}
