package tern.rpc.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.interop.conformance.Header;

class ConformanceHeadersTest {

    private final Metadata metadata = new Metadata();

    @Test
    void headersOfTheSuiteComeBackAsTheyWere() {
        List<Header> headers = List.of(header("x-text", "one", "two"), header("x-bytes-bin", "q6ur", "AA"));

        ConformanceHeaders.add(headers, metadata);

        assertThat(metadata.getAll("x-text")).containsExactly("one", "two");
        assertThat(metadata.getBytes("x-bytes")).containsExactly(0);
        assertThat(ConformanceHeaders.of(metadata)).isEqualTo(headers);
    }

    private static Header header(String name, String... values) {
        return Header.newBuilder().setName(name).addAllValue(List.of(values)).build();
    }
}
