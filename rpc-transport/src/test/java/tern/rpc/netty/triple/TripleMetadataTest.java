package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

class TripleMetadataTest {

    private static List<String> written(Metadata metadata) {
        List<String> lines = new ArrayList<>();
        TripleMetadata.write(metadata, (name, value) -> lines.add(name + ": " + value));
        return lines;
    }

    private static Http2Headers headers(String... pairs) {
        Http2Headers headers = new DefaultHttp2Headers(false);
        for (int i = 0; i < pairs.length; i += 2) {
            headers.add(pairs[i], pairs[i + 1]);
        }
        return headers;
    }

    @Test
    void headersLookAsDubboWritesThem() {
        Metadata metadata = new Metadata()
                .put("trace-id", "abc-123")
                .put("CamelKey", "CamelVal")
                .put("bytes", new byte[] {1, 2, -1});

        assertThat(written(metadata))
                .containsExactly(
                        "trace-id: abc-123",
                        "camelkey: CamelVal",
                        "bytes-bin: AQL/",
                        "tri-header-convert: %7B%22camelkey%22%3A%22CamelKey%22%7D");
    }

    @Test
    void writtenMetadataIsReadBack() {
        Metadata metadata = new Metadata()
                .put("Tenant", "blue")
                .put("RespBytes", new byte[] {1, 2})
                .add("many", "1")
                .add("many", "2")
                .add("empty", "")
                .add("none", new byte[0]);
        Http2Headers headers = new DefaultHttp2Headers();
        TripleMetadata.write(metadata, headers::add);

        Metadata read = TripleMetadata.read(headers);

        assertThat(read.names()).containsExactly("Tenant", "RespBytes-bin", "many", "many", "empty", "none-bin");
        assertThat(read.get("tenant")).isEqualTo("blue");
        assertThat(read.getBytes("respbytes")).containsExactly(1, 2);
        assertThat(read.getAll("many")).containsExactly("1", "2");
        assertThat(read.get("empty")).isEmpty();
        assertThat(read.getBytes("none")).isEmpty();
    }

    @Test
    void binaryNameThatWasWrittenWithItsSuffixIsReadWithIt() {
        Http2Headers headers = new DefaultHttp2Headers();
        TripleMetadata.write(new Metadata().put("Trace-Bin", new byte[] {1}), headers::add);

        assertThat(TripleMetadata.read(headers).names()).containsExactly("Trace-Bin");
    }

    @Test
    void headersOfHttp1AreReadToo() {
        HttpHeaders headers = new DefaultHttpHeaders();
        headers.add("Tenant", "blue").add("Host", "here").add("Blob-Bin", "AQ==");

        Metadata read = TripleMetadata.read(headers::iteratorCharSequence);

        assertThat(read.names()).containsExactly("tenant", "blob-bin");
        assertThat(read.getBytes("blob")).containsExactly(1);
    }

    @Test
    void binaryValuesAreSplitAtCommasAndMayBePadded() {
        Metadata read = TripleMetadata.read(headers("blob-bin", "AQ==, Ag,AwQ="));

        List<byte[]> values = new ArrayList<>();
        read.forEach((name, value) -> values.add((byte[]) value));
        assertThat(read.names()).containsOnly("blob-bin");
        assertThat(values).containsExactly(new byte[] {1}, new byte[] {2}, new byte[] {3, 4});
    }

    @Test
    void binaryNameWithTextInItStaysText() {
        assertThat(TripleMetadata.read(headers("recycle-bin", "not base64!")).get("recycle-bin"))
                .isEqualTo("not base64!");
    }

    @Test
    void nameThatEndsInBinKeepsOneSuffix() {
        assertThat(written(new Metadata().put("trace-bin", new byte[] {1}))).containsExactly("trace-bin: AQ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"accepted-by", "acceptance-id", "accept-id", "te-amo", "hosted-by", "grpc-trace"})
    void namesThatBeginLikeNamesOfTheProtocolAreMetadata(String name) {
        assertThat(TripleMetadata.read(headers(name, "x")).get(name)).isEqualTo("x");
        assertThat(written(new Metadata().put(name, "x"))).containsExactly(name + ": x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ":path",
                ":status",
                "te",
                "content-type",
                "content-length",
                "user-agent",
                "host",
                "connection",
                "accept",
                "accept-encoding",
                "accept-language",
                "group",
                "interface",
                "path",
                "application",
                "remote.application",
                "serialization",
                "grpc-status",
                "grpc-message",
                "grpc-timeout",
                "grpc-encoding",
                "grpc-status-details-bin",
                "tri-service-group",
                "tri-service-version",
                "tri-exception-code",
                "tri-service-timeout",
                "http-status",
                "rest-service-group",
                "transfer-encoding"
            })
    void namesOfTheProtocolAreNeverMetadata(String name) {
        assertThat(TripleMetadata.read(headers(name, "x")).isEmpty()).isTrue();
        assertThat(written(new Metadata().put(name, "x"))).isEmpty();
        assertThat(written(new Metadata().put(name.toUpperCase(Locale.ROOT), "x")))
                .isEmpty();
    }

    @Test
    void callingApplicationHasTheNameThatItHasOnDubbo() {
        assertThat(TripleMetadata.read(headers("tri-consumer-appname", "shop")).get("remote.application"))
                .isEqualTo("shop");
        assertThat(written(new Metadata().put("tri-consumer-appname", "shop"))).isEmpty();
    }

    @Test
    void headerOfCapitalsCannotChangeANameIntoAnotherOne() {
        Metadata read = TripleMetadata.read(
                headers("a", "1", "b", "2", "tri-header-convert", HeaderCase.encode(Map.of("a", "group", "b", "B"))));

        assertThat(read.names()).containsExactly("a", "B");
    }

    @ParameterizedTest
    @ValueSource(strings = {"%7B%22", "%zz", "", "{}", "null", "%7B%22a%22%3A1%7D", "[\"a\",\"A\""})
    void brokenCapitalsAreNoFailure(String convert) {
        assertThat(TripleMetadata.read(headers("a", "1", "tri-header-convert", convert))
                        .get("a"))
                .isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"é", "line\nfeed", "\u0000", "\u007F", "tab\t"})
    void textBeyondAsciiIsRefusedByName(String value) {
        RpcException refused =
                catchThrowableOfType(RpcException.class, () -> written(new Metadata().put("Tenant", value)));

        assertThat(refused.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(refused).hasMessageContaining("'Tenant'").hasMessageContaining("send the value as bytes");
        assertThat(refused.wasExecuted()).isEqualTo(RpcException.Executed.NO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"two words", "näme", "a:b", "a\n", "a\"b"})
    void nameThatIsNoHeaderNameIsRefused(String name) {
        assertThatThrownBy(() -> written(new Metadata().put(name, "x")))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("INVALID_ARGUMENT")
                // the message is logged, and line breaks from a peer must not reach the log
                .hasMessageContaining(name.replace("\n", "\\n"));
    }

    @Test
    void textUnderABinaryNameIsRefused() {
        assertThatThrownBy(() -> written(new Metadata().put("x-bin", "text"))).hasMessageContaining("x-bin");
    }

    @Test
    void numberAndSizeAreBoundedBothWays() {
        Metadata many = new Metadata();
        Http2Headers manyHeaders = headers();
        for (int i = 0; i < 129; i++) {
            many.add("n" + i, "x");
            manyHeaders.add("n" + i, "x");
        }
        Metadata large = new Metadata().put("n", "x".repeat(64 << 10));

        assertThatThrownBy(() -> written(many)).hasMessageContaining("RESOURCE_EXHAUSTED");
        assertThatThrownBy(() -> written(large)).hasMessageContaining("RESOURCE_EXHAUSTED");
        assertThatThrownBy(() -> TripleMetadata.read(manyHeaders)).hasMessageContaining("RESOURCE_EXHAUSTED");
        assertThatThrownBy(() -> TripleMetadata.read(headers("n", "x".repeat(64 << 10))))
                .hasMessageContaining("RESOURCE_EXHAUSTED");
    }

    @Test
    void hundredAndTwentyEightBinaryValuesInOneHeaderAreTheMost() {
        assertThatThrownBy(() -> TripleMetadata.read(headers("n-bin", "AQ,".repeat(129))))
                .hasMessageContaining("RESOURCE_EXHAUSTED");
    }

    @Test
    void letterThatBecomesAsciiInLowerCaseIsRefused() {
        assertThatThrownBy(() -> written(new Metadata().put("x-\u212Aey", "1")))
                .hasMessageContaining("INVALID_ARGUMENT")
                .hasMessageContaining("U+212A");
    }

    @Test
    void originalSpellingMayDifferInAsciiLettersOnly() {
        Metadata read = TripleMetadata.read(
                headers("x-key", "1", "tri-header-convert", "%7B%22x-key%22%3A%22x-%E2%84%AAey%22%7D"));

        assertThat(read.names()).containsExactly("x-key");
    }
}
