package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.serialization.SerializationException;

class ThrowablesTest {

    interface Failing {
        void fail(Report report) throws OutOfStock, Rejected;
    }

    /**
     * An exception whose constructor composes the message and whose {@code getMessage} modifies it again.
     */
    static class OutOfStock extends Exception {
        private final int item;
        private final List<Long> others;

        OutOfStock(int item, List<Long> others, @Nullable Throwable cause) {
            super("item " + item, cause);
            this.item = item;
            this.others = others;
        }

        @Override
        public String getMessage() {
            return "out of stock: " + super.getMessage();
        }
    }

    static class VeryOutOfStock extends OutOfStock {
        private final String when;

        VeryOutOfStock() {
            super(7, List.of(1L, 2L), null);
            this.when = "today";
        }
    }

    static class Report implements Serializable {
        @Nullable
        Exception error;

        @Nullable
        OutOfStock stock;
    }

    /** A class that is not reachable from the service interface, and is therefore not allowed. */
    @SuppressWarnings("UnusedVariable") // The writer of hessian2 reads the field by reflection.
    static class Order implements Serializable {
        private final int number;

        Order(int number) {
            this.number = number;
        }
    }

    @SuppressWarnings("UnusedVariable") // The writer of hessian2 reads the field by reflection.
    static class Rejected extends Exception {
        private final Object order;

        Rejected(String message, Order order) {
            super(message, new IllegalStateException("cause"));
            this.order = Map.of("order", List.of(order));
        }
    }

    static class GenericFailure extends RuntimeException {
        private final String exceptionClass;
        private final String exceptionMessage;

        GenericFailure(String exceptionClass, String exceptionMessage) {
            super(exceptionMessage);
            this.exceptionClass = exceptionClass;
            this.exceptionMessage = exceptionMessage;
        }
    }

    private final Coding coding = Coding.of(Failing.class);

    @Test
    void messageCauseSuppressedAndOwnFieldsArrive() {
        OutOfStock thrown = new OutOfStock(3, List.of(5L), new IllegalStateException("cause"));
        thrown.addSuppressed(new RuntimeException("suppressed"));

        OutOfStock read = (OutOfStock) coding.readThrowable(coding.writeThrowable(thrown, 0));

        assertThat(read).hasMessage("out of stock: item 3");
        assertThat(read.item).isEqualTo(3);
        assertThat(read.others).containsExactly(5L);
        assertThat(read.getCause()).isInstanceOf(IllegalStateException.class).hasMessage("cause");
        assertThat(read.getSuppressed()).singleElement().isInstanceOf(RuntimeException.class);
        assertThat(read.getCause().getCause()).isNull();
    }

    @Test
    void causeThatCallersDoNotKnowIsSentWithoutItsText() {
        Throwable foreign = new SerializationException("insert into secrets", new IllegalStateException("inner"));
        Throwable known = new IllegalStateException("known", foreign);
        known.addSuppressed(new SerializationException("suppressed secrets"));

        Throwable read = coding.readThrowable(coding.writeThrowable(new OutOfStock(3, List.of(), known), 0));

        assertThat(read.getCause())
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessage("known");
        assertIsDescribed(read.getCause().getCause());
        assertThat(read.getCause().getSuppressed()).singleElement().satisfies(ThrowablesTest::assertIsDescribed);
    }

    private static void assertIsDescribed(Throwable cause) {
        assertThat(cause)
                .isExactlyInstanceOf(RuntimeException.class)
                .hasNoCause()
                .message()
                .matches("tern\\.rpc\\.serialization\\.SerializationException \\(logged by the server as"
                        + " [0-9a-f]{8}\\)");
    }

    @Test
    void hessianLiteReadsACauseThatIsSentWithoutItsText() {
        OutOfStock thrown = new OutOfStock(3, List.of(5L), new SerializationException("insert into secrets"));

        OutOfStock read = (OutOfStock) Coding.readLite(coding.writeThrowable(thrown, 2));

        assertIsDescribed(read.getCause());
        assertThat(read.others).containsExactly(5L);
        assertThat(read.getCause().getStackTrace())
                .isEqualTo(Arrays.copyOf(thrown.getCause().getStackTrace(), 2));
    }

    @Test
    void causesKeepTheirTextsWhereTheSerializerAllowsIt() {
        Coding open =
                new Coding(HessianSerializer.builder().exceptionTexts(true).build(), Failing.class);
        OutOfStock thrown = new OutOfStock(3, List.of(), new SerializationException("told"));

        assertThat(open.readThrowable(open.writeThrowable(thrown, 0)).getCause())
                .hasMessageContaining("SerializationException: told");
    }

    @Test
    void causesOfAnExceptionThatIsDataKeepTheirTexts() {
        Report report = new Report();
        report.error = new IllegalStateException("data", new SerializationException("part of the data"));

        Report read = (Report) coding.through(report, Report.class);

        assertThat(read.error).hasMessage("data").cause().hasMessageContaining("part of the data");
    }

    @Test
    void fieldsOfEveryClassUpToThrowableArrive() {
        VeryOutOfStock read = (VeryOutOfStock) coding.readThrowable(coding.writeThrowable(new VeryOutOfStock(), 0));

        assertThat(read.when).isEqualTo("today");
        assertThat(((OutOfStock) read).item).isEqualTo(7);
    }

    @Test
    void exceptionOfHessianLiteIsReadWithItsFrames() {
        OutOfStock thrown = new OutOfStock(3, List.of(5L), new IllegalStateException("cause"));

        OutOfStock read = (OutOfStock) coding.readThrowable(Coding.writeLite(thrown));

        assertThat(read).hasMessage(thrown.getMessage());
        assertThat(read.item).isEqualTo(3);
        assertThat(read.getStackTrace()).isEqualTo(firstFrames(thrown));
        assertThat(read.getCause()).hasMessage("cause");
        assertThat(read.getCause().getStackTrace()).isEqualTo(firstFrames(thrown.getCause()));
    }

    private static StackTraceElement[] firstFrames(Throwable thrown) {
        StackTraceElement[] frames = thrown.getStackTrace();
        return Arrays.copyOf(frames, Math.min(64, frames.length));
    }

    @Test
    void hessianLiteReadsOurExceptions() {
        OutOfStock thrown = new OutOfStock(3, List.of(5L), new IllegalStateException("cause"));
        thrown.addSuppressed(new RuntimeException("suppressed"));

        OutOfStock read = (OutOfStock) Coding.readLite(coding.writeThrowable(thrown, 2));

        assertThat(read).hasMessage("out of stock: item 3");
        assertThat(read.item).isEqualTo(3);
        assertThat(read.getStackTrace()).isEqualTo(Arrays.copyOf(thrown.getStackTrace(), 2));
        assertThat(read.getCause()).isInstanceOf(IllegalStateException.class).hasMessage("cause");
        assertThat(read.getSuppressed()).singleElement().isInstanceOf(RuntimeException.class);
    }

    @Test
    void hessianLiteReadsAnExceptionWithoutCauseOrFrames() {
        Throwable read = (Throwable) Coding.readLite(coding.writeThrowable(new IllegalStateException("alone"), 0));

        assertThat(read)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("alone")
                .hasNoCause();
        assertThat(read.getStackTrace()).isEmpty();
    }

    @Test
    void traceWithoutFramesIsEmpty() {
        Throwable read = coding.readThrowable(coding.writeThrowable(new IllegalStateException("x"), 0));

        assertThat(read.getStackTrace()).isEmpty();
    }

    @Test
    void theExceptionThatIsWrittenStaysAsItIs() {
        Exception thrown = new Exception("x", new RuntimeException("y"));
        StackTraceElement[] before = thrown.getStackTrace();

        coding.writeThrowable(thrown, 0);

        assertThat(thrown.getStackTrace()).isEqualTo(before);
        assertThat(thrown).hasMessage("x").hasCauseInstanceOf(RuntimeException.class);
    }

    @Test
    void exceptionWithOneFieldIsRead() {
        byte[] bytes = Coding.bytes("43 \"java.lang.IllegalArgumentException\" 91 \"detailMessage\" 60 \"boom\"");

        assertThat(coding.readThrowable(bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("boom");
    }

    static List<Throwable> standardExceptions() {
        return List.of(
                new NullPointerException("m"),
                new StackOverflowError("m"),
                new NoSuchElementException("m"),
                new TimeoutException("m"),
                new java.io.FileNotFoundException("m"),
                new java.io.UncheckedIOException("m", new java.io.IOException("inner")),
                new java.net.ConnectException("m"),
                new ClassNotFoundException("m"),
                new java.util.concurrent.ExecutionException("m", new Error("inner")),
                new SQLException("m", "08001", 17),
                new java.sql.SQLTimeoutException("m", "08002", 18),
                new BatchUpdateException("m", "1", 2, new int[] {1}),
                new MissingResourceException("m", "class", "key"),
                new javax.naming.NameNotFoundException("m"),
                new ArrayIndexOutOfBoundsException(3));
    }

    @ParameterizedTest
    @MethodSource("standardExceptions")
    void exceptionsOfTheJdkKeepTheirClass(Throwable thrown) {
        for (byte[] bytes : List.of(coding.writeThrowable(thrown, 0), Coding.writeLite(thrown))) {
            Throwable read = coding.readThrowable(bytes);

            assertThat(read).isExactlyInstanceOf(thrown.getClass()).hasMessage(thrown.getMessage());
            if (thrown.getCause() != null) {
                assertThat(read.getCause()).hasMessage("inner");
            }
            if (read instanceof SQLException sql) {
                assertThat(sql.getSQLState()).isEqualTo(((SQLException) thrown).getSQLState());
                assertThat(sql.getErrorCode()).isEqualTo(((SQLException) thrown).getErrorCode());
            }
            if (read instanceof MissingResourceException missing) {
                assertThat(missing.getKey()).isEqualTo("key");
            }
        }
    }

    @Test
    void exceptionsThatComputeTheirMessageFromFieldsKeepIt() throws URISyntaxException {
        URISyntaxException uri = new URISyntaxException("ht tp", "blank", 2);
        DateTimeParseException date = new DateTimeParseException("no date", "nonsense", 0);

        assertThat(coding.readThrowable(coding.writeThrowable(uri, 0))).hasMessage(uri.getMessage());
        assertThat(coding.readThrowable(Coding.writeLite(uri))).hasMessage(uri.getMessage());
        assertThat(((DateTimeParseException) coding.readThrowable(coding.writeThrowable(date, 0))).getParsedString())
                .isEqualTo("nonsense");
    }

    @Test
    void anInvocationTargetKeepsItsTarget() {
        Throwable read = coding.readThrowable(
                coding.writeThrowable(new InvocationTargetException(new OutOfStock(1, List.of(), null)), 0));

        assertThat(((InvocationTargetException) read).getTargetException()).isInstanceOf(OutOfStock.class);
    }

    @Test
    void aClassThatDoesNotExistHereIsKeptAsTextWithItsFrames() {
        byte[] bytes = Coding.bytes("43 \"com.nowhere.LostException\" 93 \"detailMessage\" \"code\" \"stackTrace\" 60"
                + " \"gone\" 48 5a 71 \"[java.lang.StackTraceElement\" 43 \"java.lang.StackTraceElement\" 94"
                + " \"declaringClass\" \"methodName\" \"fileName\" \"lineNumber\""
                + " 61 \"com.nowhere.Shop\" \"sell\" \"Shop.java\" 95");

        Throwable read = coding.readThrowable(bytes);

        assertThat(read)
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("com.nowhere.LostException: gone (the class is missing in this application")
                .hasMessageContaining("add the version of the interface's jar that the sender has");
        assertThat(((RpcException) read).code()).isEqualTo(StatusCode.UNKNOWN);
        assertThat(((RpcException) read).wasExecuted()).isEqualTo(RpcException.Executed.YES);
        assertThat(read.getStackTrace())
                .containsExactly(new StackTraceElement("com.nowhere.Shop", "sell", "Shop.java", 5));
    }

    @Test
    void aCauseThatDoesNotExistHereDoesNotSpoilTheException() {
        byte[] bytes = Coding.bytes("43 \"java.lang.IllegalStateException\" 92 \"detailMessage\" \"cause\" 60 \"outer\""
                + " 43 \"com.nowhere.LostException\" 91 \"detailMessage\" 61 \"inner\"");

        Throwable read = coding.readThrowable(bytes);

        assertThat(read).isExactlyInstanceOf(IllegalStateException.class).hasMessage("outer");
        assertThat(read.getCause()).isInstanceOf(RpcException.class).hasMessageContaining("LostException: inner");
    }

    @Test
    void aClassThatIsNoThrowableIsKeptAsText() {
        assertThat(coding.readThrowable(Coding.bytes("43 \"" + Report.class.getName() + "\" 90 60")))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("Report");
        assertThatThrownBy(() -> coding.readThrowable(Coding.bytes("48 5a")))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> coding.readThrowable(Coding.bytes("4e"))).isInstanceOf(SerializationException.class);
    }

    @Test
    void longTextIsCutOff() {
        Throwable thrown = new RuntimeException("x".repeat(20_000));
        for (int i = 0; i < 30; i++) {
            thrown = new RuntimeException("outer " + i, thrown);
        }
        StackTraceElement[] frames = new StackTraceElement[100];
        Arrays.setAll(frames, i -> new StackTraceElement("C", "m", "F.java", i));
        thrown.setStackTrace(frames);
        Throwable message = new RuntimeException("x".repeat(20_000));

        for (byte[] bytes : List.of(coding.writeThrowable(thrown, 100), Coding.writeLite(thrown))) {
            Throwable read = coding.readThrowable(bytes);

            assertThat(read.getStackTrace()).hasSize(64);
            assertThat(chain(read)).isEqualTo(8);
        }
        assertThat(coding.readThrowable(Coding.writeLite(message)).getMessage()).hasSize(8 << 10);
        assertThat(((Throwable) Coding.readLite(coding.writeThrowable(message, 0))).getMessage())
                .hasSize(8 << 10);
    }

    private static int chain(Throwable outer) {
        int length = 0;
        for (Throwable cause = outer.getCause(); cause != null; cause = cause.getCause()) {
            length++;
        }
        return length;
    }

    @Test
    void causesThatGoRoundInCirclesEnd() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);
        one.addSuppressed(two);

        for (byte[] bytes : List.of(coding.writeThrowable(one, 0), Coding.writeLite(one))) {
            Throwable read = coding.readThrowable(bytes);

            assertThat(read).hasMessage("one");
            assertThat(read.getCause()).hasMessage("two").hasNoCause();
        }
    }

    @Test
    void exceptionsInsideValuesAreSentWithoutFrames() {
        Report report = new Report();
        report.error = new IllegalStateException("inside");
        report.stock = new OutOfStock(1, List.of(), null);

        Report lite = (Report) Coding.readLite(coding.write(report));
        Report read = (Report) coding.through(report, Report.class);

        assertThat(lite.error.getStackTrace()).isEmpty();
        assertThat(read.error).isExactlyInstanceOf(IllegalStateException.class).hasMessage("inside");
        assertThat(read.stock.item).isEqualTo(1);
    }

    @Test
    void exceptionIsRefusedWhereObjectIsDeclared() {
        assertThatThrownBy(() -> coding.read(coding.write(List.of(new IllegalStateException("x")))))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("java.lang.IllegalStateException");
    }

    @Test
    void anAliasIsWrittenAndRead() {
        String name = "com.alibaba.dubbo.rpc.service.GenericException";
        Coding aliased = new Coding(
                HessianSerializer.builder().alias(GenericFailure.class, name).build(), Failing.class);

        byte[] bytes = aliased.writeThrowable(new GenericFailure("com.x.Lost", "gone"), 0);
        GenericFailure read = (GenericFailure) aliased.readThrowable(bytes);

        assertThat(new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1))
                .contains(name)
                .contains("exceptionClass")
                .contains("exceptionMessage")
                .doesNotContain(GenericFailure.class.getSimpleName());
        assertThat(read.exceptionClass).isEqualTo("com.x.Lost");
        assertThat(read.exceptionMessage).isEqualTo("gone");
    }

    @Test
    void aFieldThatMayNotBeReadDoesNotHideTheFailure() {
        byte[] bytes = coding.writeThrowable(new Rejected("order 7 was rejected", new Order(7)), 8);

        Throwable read = coding.readThrowable(bytes);

        assertThat(read)
                .isInstanceOf(RpcException.class)
                .hasMessageContaining(Rejected.class.getName() + ": order 7 was rejected")
                .hasMessageContaining(Order.class.getName() + " may not be read")
                .hasMessageContaining("rpc.limits.allowed-classes");
        assertThat(((RpcException) read).code()).isEqualTo(StatusCode.UNKNOWN);
        assertThat(read.getStackTrace()[0].getMethodName()).isEqualTo("aFieldThatMayNotBeReadDoesNotHideTheFailure");
        assertThat(read.getCause())
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("IllegalStateException: cause");
    }

    @Test
    void aFieldOfAnotherTypeDoesNotHideTheFailure() {
        byte[] bytes = Coding.bytes(
                "43 \"" + OutOfStock.class.getName() + "\" 92 \"detailMessage\" \"item\" 60 \"none\" \"seven\"");

        assertThat(coding.readThrowable(bytes))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("OutOfStock: none; it was read without its class: ")
                .hasMessageContaining("item");
    }

    @Test
    void forbiddenClassInAFieldOfAnExceptionIsNotCreatedButReported() {
        byte[] bytes =
                Coding.bytes("43 \"" + OutOfStock.class.getName() + "\" 91 \"others\" 60 43 \"com.evil.Evil\" 90 61");

        assertThat(coding.readThrowable(bytes))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("com.evil.Evil may not be read");
    }

    @Test
    void anExceptionThatIsCutOffIsRefused() {
        byte[] whole = coding.writeThrowable(new Rejected("order 7 was rejected", new Order(7)), 8);

        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> coding.readThrowable(cut)).isInstanceOf(SerializationException.class);
        }
    }

    /** Readers in other languages know the exception only by this name, so the name must not contain Tern's package. */
    @Test
    void failureOfAGenericCallHasItsNameOnTheWire() {
        byte[] bytes =
                coding.writeThrowable(new tern.rpc.transport.GenericException(new IllegalStateException("why")), 0);

        assertThat(new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1))
                .contains(tern.rpc.transport.GenericException.WIRE_NAME)
                .doesNotContain("tern.rpc");
    }
}
