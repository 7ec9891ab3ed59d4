package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Restarts an application in the same way as Spring Boot's devtools. A new class loader loads the application's classes
 * again, and the libraries stay loaded.
 */
@Timeout(120)
class RestartTest {

    @Test
    void classesOfTheNewLoaderServeAndAreSentAfterARestart() throws Exception {
        String first = new RestartLoader().startAndCall();
        String second = new RestartLoader().startAndCall();

        assertThat(first).isEqualTo("soup and burnt, tea and burnt");
        assertThat(second).isEqualTo(first);
    }
}
