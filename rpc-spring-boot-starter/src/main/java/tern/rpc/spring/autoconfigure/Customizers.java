package tern.rpc.spring.autoconfigure;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.beans.BeansException;
import tern.rpc.settings.RpcStartException;

/**
 * Runs the customizers of the application. If a customizer fails, the error message contains the customizer's class and
 * line. Spring's own message would contain only the method that creates the server or the client.
 */
final class Customizers {

    private Customizers() {}

    /** @param type the interface of the customizers, for the error message */
    static <T> void run(Class<T> type, Stream<T> customizers, Consumer<T> call) {
        customizers.forEach(customizer -> {
            try {
                call.accept(customizer);
            } catch (RpcStartException | BeansException e) {
                throw e; // Spring Boot's failure analyzers already describe these exceptions
            } catch (RuntimeException e) {
                throw failed(type, customizer, e);
            }
        });
    }

    private static RpcStartException failed(Class<?> type, Object customizer, RuntimeException failure) {
        String written = nameOf(customizer.getClass());
        String place = Arrays.stream(failure.getStackTrace())
                .filter(frame -> nameOf(frame.getClassName()).equals(written))
                .findFirst()
                .map(frame -> " at " + frame)
                .orElse("");
        return new RpcStartException(
                "The " + type.getSimpleName() + " of the class " + written + " failed" + place + ": " + failure,
                "Correct the customizer. With logging.level.org.springframework.boot.diagnostics=debug, the log also"
                        + " contains the stack trace.",
                failure);
    }

    private static String nameOf(Class<?> type) {
        return nameOf(type.getName());
    }

    /** Returns the name of the class that contains the customizer's code, without the suffix of a lambda or a proxy. */
    private static String nameOf(String className) {
        int end = className.indexOf("$$");
        return end < 0 ? className : className.substring(0, end);
    }
}
