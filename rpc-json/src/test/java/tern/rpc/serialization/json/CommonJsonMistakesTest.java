package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;

/** Tests the messages for mistakes that often occur in JSON and in queries. */
class CommonJsonMistakesTest {

    record Person(String name, int age) {}

    interface People {
        int sum(int a, int b);

        Person find(Person p);
    }

    /** A substitute for Hibernate's exception, with the same simple name. */
    static final class LazyInitializationException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LazyInitializationException(String message) {
            super(message);
        }
    }

    public static final class Author {
        public List<String> getBooks() {
            throw new LazyInitializationException("Cannot lazily initialize collection of role 'Author.books'");
        }
    }

    interface Authors {
        Author find(String name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{a:1,b:2}", "{'a':1,'b':2}", "{\"a\":1,b:2}"})
    void nameWithoutDoubleQuotesIsExplained(String json) {
        assertThatThrownBy(() -> Texts.of(People.class, "sum").arguments(json))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("not JSON: expected a name in double quotes at line 1, column ")
                .hasMessageEndingWith("so put the JSON into a file and use --data-binary @file");
    }

    @Test
    void propertyOfABeanWithTheNameOfTheParameterIsExplained() {
        Texts find = Texts.of(People.class, "find");

        assertThatThrownBy(() -> find.query("p.name=Ada&p.age=36"))
                .hasMessageStartingWith("People/find, parameter 1 (p): expected its properties without the name of the"
                        + " parameter, such as ");
        assertThat(find.query("name=Ada&age=36")).containsExactly(new Person("Ada", 36));
    }

    @Test
    void associationThatIsNotLoadedIsNamedWithItsRemedy() {
        assertThatThrownBy(() -> Texts.of(Authors.class, "find").writtenResult(new Author()))
                .hasMessageContaining("at $.books could not be written")
                .hasMessageEndingWith("LazyInitializationException, because a lazy association is not loaded; load it,"
                        + " for example with JOIN FETCH, or send a record of your own");
    }
}
