package tern.rpc.load.micro;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import java.io.UncheckedIOException;
import java.util.List;
import tern.rpc.load.micro.SideBySide.Row;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;
import tern.rpc.serialization.protobuf.ProtobufCodec;

/**
 * Compares the cost of reading protobuf messages with Tern and with the parser of the protobuf library alone. Before
 * Tern parses a message larger than 8 KiB, it counts the message's unknown fields.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.ProtobufReading [rounds] [milliseconds] [part of a
 * row's name]</pre>
 */
public final class ProtobufReading {

    private ProtobufReading() {}

    public static void main(String[] arguments) {
        SideBySide.print("parser", rows(), arguments);
    }

    private static Row row(String name, Message message) {
        ProtobufCodec codec = new ProtobufCodec();
        byte[] bytes = message.toByteArray();
        Parser<? extends Message> parser = message.getParserForType();
        Class<?> type = message.getClass();
        return new Row(name + ", " + bytes.length + " bytes", () -> codec.parse(type, bytes, 0, bytes.length), () -> {
            try {
                return parser.parseFrom(bytes);
            } catch (InvalidProtocolBufferException failure) {
                throw new UncheckedIOException(failure);
            }
        });
    }

    private static List<Row> rows() {
        return List.of(
                row("a text", Text.newBuilder().setValue("x".repeat(18)).build()),
                row("20 users", page(20)),
                row(
                        "50 KB of text",
                        Text.newBuilder()
                                .setValue("0123456789abcdef".repeat(3_200))
                                .build()),
                row("200 users", page(200)),
                row("5,000 users", page(5_000)),
                row("100,000 users of one number", numbers(100_000)));
    }

    private static UserPage page(int users) {
        UserMessage user = UserMessage.newBuilder()
                .setId(1_236)
                .setName("Doug Lea")
                .setSex(1)
                .setBirthday(-600)
                .setEmail("dong.lea@gmail.com")
                .setMobile("18612345678")
                .setAddress("Beijing, Zhongguancun Street 1, room 1002")
                .setIcon("https://www.example.com/image/icon/1.jpg")
                .addAllPermissions(List.of(1, 12, 51, 72, 88, 104))
                .setStatus(1)
                .setCreateTime(1_700_000_000L)
                .setUpdateTime(1_710_000_000L)
                .build();
        UserPage.Builder page = UserPage.newBuilder().setPageNo(1).setTotal(users);
        for (int i = 0; i < users; i++) {
            page.addResult(user);
        }
        return page.build();
    }

    private static UserPage numbers(int users) {
        UserPage.Builder page = UserPage.newBuilder();
        for (int i = 0; i < users; i++) {
            page.addResult(UserMessage.newBuilder().setId(i));
        }
        return page.build();
    }
}
