package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Reads headers that contain lists, such as {@code accept: text/html, application/json;q=0.9}. Only the beginning of a
 * list is read. With HTTP/2, a client can repeat a header of 4 KiB by sending one byte (RFC 7541), so reading whole
 * lists could occupy the event loop for a long time.
 */
final class HeaderList {

    /** The maximum number of characters that are read from all headers with the same name. */
    static final int MAX_CHARS = 1_024;

    /** The maximum number of elements that are read from all headers with one name. */
    static final int MAX_ELEMENTS = 32;

    private HeaderList() {}

    /**
     * Returns the first elements of all headers with the same name.
     *
     * @param values the values of the headers
     * @return the trimmed elements with their parameters; an element that is not complete within the first
     *     {@link #MAX_CHARS} characters is omitted
     */
    static List<String> elements(Iterator<? extends CharSequence> values) {
        List<String> elements = new ArrayList<>(4);
        int left = MAX_CHARS;
        while (values.hasNext() && left > 0) {
            left = add(elements, values.next(), left);
        }
        return elements;
    }

    /** Adds the elements of one header, and returns how many more characters may be read. */
    private static int add(List<String> elements, CharSequence value, int maxChars) {
        int end = Math.min(value.length(), maxChars);
        int start = 0;
        for (int i = 0; i < end; i++) {
            if (value.charAt(i) == ',') {
                elements.add(trimmed(value, start, i));
                start = i + 1;
                if (elements.size() == MAX_ELEMENTS) {
                    return 0;
                }
            }
        }
        if (end == value.length()) {
            elements.add(trimmed(value, start, end));
        }
        return elements.size() < MAX_ELEMENTS ? maxChars - end : 0;
    }

    private static String trimmed(CharSequence value, int start, int end) {
        return value.subSequence(start, end).toString().trim();
    }
}
