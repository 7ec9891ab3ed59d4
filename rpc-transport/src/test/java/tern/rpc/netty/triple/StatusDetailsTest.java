package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.serialization.SerializationException;

class StatusDetailsTest {

    @Test
    void detailsReadByDubboAreRead() {
        byte[] captured = StatusDetails.BASE64_DECODER.decode("CAMSBnN0LW1zZxo8Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2ds"
                + "ZS5ycGMuRGVidWdJbmZvEhAKBmZyYW1lMRIGZGV0YWls");

        Status status = StatusDetails.decode(captured);

        assertThat(status.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(status.description()).isEqualTo("st-msg");
        assertThat(status.details()).singleElement().satisfies(detail -> {
            assertThat(detail.typeUrl()).isEqualTo("type.googleapis.com/google.rpc.DebugInfo");
            assertThat(detail.value()).asHexString().isEqualTo("0A066672616D6531120664657461696C");
        });
        assertThat(StatusDetails.encode(status)).isEqualTo(captured);
    }

    @Test
    void longDetailsAreAlsoSent() {
        byte[] value = new byte[100_000];
        value[99_999] = 7;
        Status status = new Status(
                StatusCode.ABORTED,
                "x".repeat(1_000),
                List.of(new StatusDetail("a", new byte[0]), new StatusDetail("b", value)));

        Status read = StatusDetails.decode(StatusDetails.encode(status));

        assertThat(read.description()).isEqualTo(status.description());
        assertThat(read.details()).extracting(StatusDetail::typeUrl).containsExactly("a", "b");
        assertThat(read.details().get(1).value()).isEqualTo(value);
    }

    @Test
    void unknownFieldsArePassedOver() {
        Status status =
                StatusDetails.decode(HexFormat.of().parseHex("2001" + "0805" + "2D01020304" + "310102030405060708"));

        assertThat(status.code()).isEqualTo(StatusCode.NOT_FOUND);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0863", "08FFFFFFFFFFFFFFFFFF01", "08FFFFFFFFFFFFFFFF7F"})
    void undefinedCodeIsUnknown(String hex) {
        assertThat(StatusDetails.decode(HexFormat.of().parseHex(hex)).code()).isEqualTo(StatusCode.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"08", "0880", "12FFFFFFFF0F61", "1205", "0B", "00", "12FFFFFFFFFFFFFFFFFF01", "2D0102"})
    void brokenBytesAreRefused(String hex) {
        assertThatThrownBy(() -> StatusDetails.decode(HexFormat.of().parseHex(hex)))
                .isInstanceOf(SerializationException.class);
    }
}
