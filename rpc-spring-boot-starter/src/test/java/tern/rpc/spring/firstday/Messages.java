package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares the messages that users see with a file that people can review. After a change, run the tests with
 * {@code -Dfirst-day.write=true} to update the file, then review the difference.
 */
public final class Messages {

    static final Path FILE = Path.of("src", "test", "resources", "first-day", "messages.txt");

    private static final String SECTION = "== ";
    private static final String HEAD = """
            The messages that a newcomer to Tern RPC meets, by occasion. Tests compare them; Messages.java says how to
            write this file again. <port>, <ms> and the like stand for values that differ from run to run.
            """;

    private Messages() {}

    /**
     * Compares a message with the expected message in {@link #FILE}.
     *
     * @param occasion the situation in which the message appears, such as {@code only the starter: busy port}; it is
     *     the title of the section with the expected message
     */
    public static void assertSays(String occasion, String message) {
        String said = uniform(message);
        Map<String, String> sections = read();
        if (Boolean.getBoolean("first-day.write")) {
            sections.put(occasion, said);
            write(sections);
        } else {
            assertThat(said).as(occasion).isEqualTo(sections.get(occasion));
        }
    }

    /** Replaces ports and whitespace, which differ between runs. */
    private static String uniform(String message) {
        return message.strip()
                .replaceAll("(?m)[ \t]+$", "")
                .replaceAll("(127\\.0\\.0\\.1|localhost):\\d{4,5}", "$1:<port>")
                .replaceAll("port \\d{5}\\b", "port <port>")
                .replaceAll("(?<= )\\d+ ms (?=\\(its|late)", "<ms> ms ");
    }

    static Map<String, String> read() {
        Map<String, String> sections = new TreeMap<>();
        for (String section : text().split("(?m)^" + SECTION)) {
            int end = section.indexOf('\n');
            if (end > 0 && !section.equals(HEAD + "\n")) {
                sections.put(section.substring(0, end), section.substring(end).strip());
            }
        }
        return sections;
    }

    private static String text() {
        try {
            return Files.exists(FILE) ? Files.readString(FILE) : HEAD + "\n";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Map<String, String> sections) {
        StringBuilder text = new StringBuilder(HEAD);
        new LinkedHashMap<>(sections)
                .forEach((occasion, message) -> text.append("\n" + SECTION + occasion + "\n" + message + "\n"));
        try {
            Files.writeString(FILE, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
