package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeaderListTest {

    /** A header value that counts the reads of its characters. */
    private static final class Counted implements CharSequence {

        static int read;
        private final String value;

        Counted(String value) {
            this.value = value;
        }

        @Override
        public int length() {
            return value.length();
        }

        @Override
        public char charAt(int index) {
            read++;
            return value.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            read += end - start;
            return value.substring(start, end);
        }

        @Override
        public String toString() {
            read += value.length();
            return value;
        }
    }

    @Test
    void elementsOfAllHeadersAreTrimmed() {
        assertThat(HeaderList.elements(
                        List.of("text/html, application/json;q=0.9 ", "", "*/*").iterator()))
                .containsExactly("text/html", "application/json;q=0.9", "", "*/*");
    }

    @Test
    void longListsAreReadOnlyAtTheirBeginning() {
        Counted entries = new Counted("a,".repeat(2_048));
        Counted one = new Counted("a".repeat(4_096));

        Counted.read = 0;
        assertThat(HeaderList.elements(Collections.nCopies(7, entries).iterator()))
                .hasSize(HeaderList.MAX_ELEMENTS);
        assertThat(Counted.read).isLessThan(200);
        Counted.read = 0;
        assertThat(HeaderList.elements(Collections.nCopies(7, one).iterator())).isEmpty();
        assertThat(Counted.read).isEqualTo(HeaderList.MAX_CHARS);
    }

    @Test
    void gzipBehindALongListIsNotFound() {
        assertThat(HeaderList.elements(List.of("a,".repeat(100), "gzip").iterator()))
                .doesNotContain("gzip");
    }
}
