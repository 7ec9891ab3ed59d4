package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;

/** Tests the startup errors for properties that name methods or parameters that the interface does not have. */
class MethodPropertiesTest {

    interface Desk {
        String hi(String name);

        String hi(String name, int times);

        void note(String text);
    }

    static class User {
        @RpcReference
        Desk desk;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "methods.hii.timeout=1s | Desk has no method 'hii'; it has hi, note | Did you mean hi? Correct the"
                        + " name,",
                "methods.other.hedging=true | Desk has no method 'other'; it has hi, note | Correct the name, or"
                        + " remove",
                "hash-key=nope | Desk has no parameter with this name; it has name, times, text | Correct the name, or",
                "methods.note.hash-key=nope | Desk/note has no parameter with this name; it has text | Correct the"
                        + " name",
                "methods.hi.hash-key=times | is 'times', but the overload Desk/hi(String) has no parameter with this"
                        + " name,"
                        + " which all overloads need | Set rpc.client.services.desk.hash-key instead",
                "methods.hi.hash-key=nope | Desk/hi has no parameter with this name; it has name, times | Correct",
                "methods.hi.one-way=true | is true, but Desk/hi returns java.lang.String | Remove the property,"
                        + " because",
            })
    void invalidPropertyIsNamedWithTheRemedy(String property, String description, String action) {
        RpcStartException failure = startWith(property);

        String name = "rpc.client.services.desk." + property.substring(0, property.indexOf('='));
        assertThat(failure)
                .isInstanceOfSatisfying(
                        InvalidPropertyException.class,
                        invalid -> assertThat(invalid.property()).isEqualTo(name));
        assertThat(failure).hasMessageStartingWith(name).hasMessageContaining(description);
        assertThat(failure.action()).startsWith(action);
    }

    static class Elsewhere {
        interface Desk {
            void ring(String bell);
        }

        @RpcReference
        Desk desk;
    }

    @Test
    void interfacesWithOneSimpleNameShareTheSettingsOfTheMethodsThatEachOfThemHas() {
        application(User.class, Elsewhere.class)
                .withPropertyValues(
                        "rpc.client.url=127.0.0.1:1",
                        "rpc.client.services.desk.hash-key=bell",
                        "rpc.client.services.desk.methods.ring.timeout=1s",
                        "rpc.client.services.desk.methods.note.one-way=true")
                .run(here -> assertThat(here).hasNotFailed());
        application(User.class, Elsewhere.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1", "rpc.client.services.desk.methods.wring.timeout=1s")
                .run(here -> assertThat(here.getStartupFailure()).hasMessageContaining("has no method 'wring'"));
    }

    @Test
    void propertiesThatFitAreAccepted() {
        application(User.class)
                .withPropertyValues(
                        "rpc.client.url=127.0.0.1:1",
                        "rpc.client.services.desk.hash-key=times",
                        "rpc.client.services.desk.methods.hi.timeout=1s",
                        "rpc.client.services.desk.methods.note.one-way=true",
                        "rpc.client.services.desk.methods.note.hash-key=text")
                .run(here -> assertThat(here).hasNotFailed());
    }

    private static RpcStartException startWith(String property) {
        RpcStartException[] failure = new RpcStartException[1];
        application(User.class)
                .withPropertyValues("rpc.client.url=127.0.0.1:1", "rpc.client.services.desk." + property)
                .run(here -> failure[0] = StartFailures.causeOf(here.getStartupFailure()));
        return failure[0];
    }
}
