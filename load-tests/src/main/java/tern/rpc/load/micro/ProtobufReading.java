package tern.rpc.load.micro;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;
import tern.rpc.serialization.protobuf.ProtobufCodec;

/**
 * What reading protobuf messages costs beside the library's parser alone: above 8 KiB, unknown fields are counted first.
 * One thread; both in turn, several rounds, the first thrown away; CPU and bytes of that thread alone.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.ProtobufReading [rounds] [milliseconds]</pre>
 */
public final class ProtobufReading {

    private ProtobufReading() {}

    private record Row(String name, byte[] bytes, Parser<? extends Message> parser, Class<?> type) {

        static Row of(String name, Message message) {
            return new Row(
                    name + ", " + message.getSerializedSize() + " bytes",
                    message.toByteArray(),
                    message.getParserForType(),
                    message.getClass());
        }

        Object byCodec(ProtobufCodec codec) {
            return codec.parse(type, bytes, 0, bytes.length);
        }

        Object byParser() {
            try {
                return parser.parseFrom(bytes);
            } catch (InvalidProtocolBufferException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }

    private record Figure(Cost ours, Cost parser) {}

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 9;
        int millis = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 300;
        ProtobufCodec codec = new ProtobufCodec();
        List<Row> rows = rows();
        Map<Row, List<Figure>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Row row : rows) {
                Figure figure = new Figure(Cost.of(() -> row.byCodec(codec), millis), Cost.of(row::byParser, millis));
                if (round > 0) {
                    figures.computeIfAbsent(row, added -> new ArrayList<>()).add(figure);
                }
            }
        }
        print(figures, rounds, millis);
    }

    private static List<Row> rows() {
        return List.of(
                Row.of("a text", Text.newBuilder().setValue("x".repeat(18)).build()),
                Row.of("20 users", page(20)),
                Row.of(
                        "50 KB of text",
                        Text.newBuilder()
                                .setValue("0123456789abcdef".repeat(3_200))
                                .build()),
                Row.of("200 users", page(200)),
                Row.of("5,000 users", page(5_000)),
                Row.of("100,000 users of one number", numbers(100_000)));
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

    private static void print(Map<Row, List<Figure>> figures, int rounds, int millis) {
        System.out.printf(
                "JDK %s, one thread, %d rounds of %d ms in turn, load average %.1f%n",
                Runtime.version(),
                rounds,
                millis,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        figures.forEach((row, measured) -> System.out.printf(
                "%-46s CPU ns: ours %,12.0f  parser %,12.0f  ratio %5.3f   bytes: ours %,12.0f  parser %,12.0f%n",
                row.name(),
                median(measured, figure -> figure.ours().cpuNanos()),
                median(measured, figure -> figure.parser().cpuNanos()),
                median(
                        measured,
                        figure -> figure.ours().cpuNanos() / figure.parser().cpuNanos()),
                median(measured, figure -> figure.ours().bytes()),
                median(measured, figure -> figure.parser().bytes())));
    }

    private static double median(List<Figure> figures, ToDoubleFunction<Figure> value) {
        return figures.stream().mapToDouble(value).sorted().toArray()[figures.size() / 2];
    }
}
