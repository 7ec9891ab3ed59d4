package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Restarts as Spring Boot's devtools make them: the classes of the application get a new loader, those of libraries stay.
 */
@Timeout(120)
class RestartTest {

    @Test
    void classesOfTheNewLoaderServeAndTravelAfterARestart() throws Exception {
        String first = new RestartLoader().startAndCall();
        String second = new RestartLoader().startAndCall();

        assertThat(first).isEqualTo("soup and burnt, tea and burnt");
        assertThat(second).isEqualTo(first);
    }
}
