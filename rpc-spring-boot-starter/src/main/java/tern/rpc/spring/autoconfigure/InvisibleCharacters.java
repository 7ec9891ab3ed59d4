package tern.rpc.spring.autoconfigure;

import java.util.Locale;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import tern.rpc.settings.InvalidPropertyException;

/**
 * Rejects values with invisible or invalid characters. Such a character can come from a web page or a text document,
 * from a file that is not in UTF-8, or from a backslash in a {@code .properties} file. The messages do not show the
 * value, because it might be a token.
 */
final class InvisibleCharacters {

    /** Matches the comma between two elements of a list, which may be on separate lines. */
    private static final Pattern BETWEEN_ELEMENTS = Pattern.compile("\\s*,\\s*");

    /**
     * Matches invisible characters that belong to words: the joiners of Persian and Indian scripts, and the space of
     * Chinese and Japanese. Between two non-ASCII letters, these characters are intended.
     */
    private static final Pattern WITHIN_WORDS = Pattern.compile(
            "(?<=[\\p{L}\\p{M}&&[^\\p{ASCII}]])[\\u200C\\u200D\\u3000](?=[\\p{L}\\p{M}&&[^\\p{ASCII}]])");

    private static final char NUL = 0;
    private static final char REPLACEMENT = '\uFFFD';

    private InvisibleCharacters() {}

    static void check(ConfigurationPropertyName name, String text) {
        String joined = BETWEEN_ELEMENTS.matcher(text.strip()).replaceAll(",");
        WITHIN_WORDS
                .matcher(joined)
                .replaceAll("")
                .codePoints()
                .filter(InvisibleCharacters::isInvisible)
                .findFirst()
                .ifPresent(character -> {
                    throw new InvalidPropertyException(
                            name.toString(),
                            String.format(
                                    Locale.ROOT,
                                    "%s contains the character U+%04X (%s), which is invisible or not a valid"
                                            + " character",
                                    name,
                                    character,
                                    Character.getName(character)),
                            action(character),
                            null);
                });
    }

    private static boolean isInvisible(int character) {
        return character == REPLACEMENT
                || Character.isISOControl(character)
                || Character.getType(character) == Character.FORMAT
                || (Character.isSpaceChar(character) && character != ' ');
    }

    private static String action(int character) {
        if (character == REPLACEMENT || character == NUL) {
            return "Save the file in UTF-8. Windows PowerShell writes UTF-16 when it redirects output to a file.";
        }
        return Character.isISOControl(character)
                ? "In a .properties file, a backslash begins an escape sequence such as \\t, so write \\\\ or /. In a"
                        + " secret, remove the line break."
                : "Delete the value and type it again, because copied text can contain such characters.";
    }
}
