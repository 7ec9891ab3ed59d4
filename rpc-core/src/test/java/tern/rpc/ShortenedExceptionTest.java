package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that exceptions with very long messages are shortened for the log. */
class ShortenedExceptionTest {

    private static final String LONG = "m".repeat(5 << 20);

    private static Throwable logged(Throwable thrown) {
        List<Throwable> logged = new ArrayList<>();
        Thrown.log(thrown, logged::add);
        assertThat(logged).hasSize(1);
        return logged.get(0);
    }

    private static String written(Throwable thrown) {
        StringWriter text = new StringWriter();
        logged(thrown).printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void ordinaryExceptionIsLoggedItself() {
        Exception thrown = new IllegalStateException("m".repeat(10_000), new IOException("disk\nfull"));
        thrown.addSuppressed(new IOException("close"));

        assertThat(logged(thrown)).isSameAs(thrown);
    }

    @Test
    void longMessagesAreCut() {
        Exception thrown = new IllegalStateException(LONG, new IOException(LONG, new IOException("disk full")));
        thrown.addSuppressed(new IOException(LONG));

        String text = written(thrown);

        assertThat(text)
                .hasSizeLessThan(100_000)
                .contains("java.lang.IllegalStateException: mmm")
                .contains("Caused by: tern.rpc.ShortenedException: java.io.IOException: mmm")
                .contains("java.io.IOException: disk full")
                .contains("Suppressed: tern.rpc.ShortenedException: java.io.IOException: mmm")
                .contains("at tern.rpc.ShortenedExceptionTest.longMessagesAreCut");
        assertThat(logged(thrown).getStackTrace()).isEqualTo(thrown.getStackTrace());
    }

    @Test
    void longTextOfAnOverriddenMethodIsCut() {
        assertThat(written(new IllegalStateException("short") {
                    @Override
                    public String toString() {
                        return LONG;
                    }
                }))
                .hasSizeLessThan(100_000);
    }

    @Test
    void textOfALongMessageIsNotReadToMeasureIt() {
        List<String> read = new ArrayList<>();
        Exception thrown = new IllegalStateException(LONG) {
            @Override
            public String toString() {
                read.add("text");
                return super.toString();
            }
        };

        assertThat(Thrown.isLong(thrown, 1_000)).isTrue();
        assertThat(read).isEmpty();
    }

    @Test
    void exceptionIsAsLongAsItsCausesAndSuppressedExceptions() {
        Exception thrown = new IllegalStateException("short", new IOException("cause"));
        thrown.addSuppressed(new IOException("m".repeat(2_000), thrown));

        assertThat(Thrown.isLong(thrown, 1_000)).isTrue();
        assertThat(Thrown.isLong(thrown, 4_000)).isFalse();
    }

    @Test
    void manyCausesShareTheCharacters() {
        Exception thrown = new IOException("m".repeat(8_000));
        for (int i = 0; i < 1_000; i++) {
            thrown = new IOException("m".repeat(8_000), thrown);
        }

        int causes = 0;
        long characters = 0;
        for (Throwable next = logged(thrown); next != null; next = next.getCause()) {
            causes++;
            characters += next.toString().length();
        }

        assertThat(causes).isLessThanOrEqualTo(Thrown.MAX_EXCEPTIONS);
        assertThat(characters).isLessThan(2 * ShortenedException.MAX_CHARACTERS);
    }

    @Test
    void causeThatRefersBackIsCopiedOnce() {
        Exception first = new IOException(LONG);
        first.addSuppressed(new IOException("second", first));

        assertThat(logged(first).getSuppressed())
                .singleElement()
                .satisfies(copy -> assertThat(copy.getCause()).isNull());
    }
}
