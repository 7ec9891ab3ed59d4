package tern.rpc.registry;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** Reads the text of a provider file. If reading fails, the exception contains the reason. */
final class FileText {

    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private FileText() {}

    /**
     * Reads a file in UTF-8. A byte order mark at its start is skipped.
     *
     * @throws IllegalArgumentException if the path names no regular file, or if the file is too long or is not UTF-8
     */
    static String read(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            throw new IllegalArgumentException("it is a directory; expected a file");
        }
        if (!attributes.isRegularFile()) {
            // Opening a named pipe blocks until another process opens the pipe, and reading a device may never end.
            throw new IllegalArgumentException("it is a pipe, a socket or a device; expected a file");
        }
        if (attributes.size() > ProviderFile.MAX_BYTES) {
            throw tooLong();
        }
        // The number of bytes is limited again, because the file may grow while it is read.
        try (InputStream input = Files.newInputStream(file)) {
            byte[] bytes = input.readNBytes(ProviderFile.MAX_BYTES + 1);
            if (bytes.length > ProviderFile.MAX_BYTES) {
                throw tooLong();
            }
            return decoded(bytes);
        }
    }

    /** The message does not contain the size, because a file that keeps growing would otherwise cause many warnings. */
    private static IllegalArgumentException tooLong() {
        return new IllegalArgumentException("it has more than " + ProviderFile.MAX_BYTES + " bytes");
    }

    private static String decoded(byte[] bytes) {
        if (isUtf16(bytes)) {
            throw new IllegalArgumentException("it is written in UTF-16; expected UTF-8");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("it is not written in UTF-8", e);
        }
    }

    /**
     * Returns whether the text is probably UTF-16: it begins with a UTF-16 byte order mark, or one byte of its first
     * character is zero, as it is for ASCII characters in UTF-16.
     */
    private static boolean isUtf16(byte[] bytes) {
        if (bytes.length < 2) {
            return false;
        }
        boolean isMarked = (bytes[0] == (byte) 0xFE && bytes[1] == (byte) 0xFF)
                || (bytes[0] == (byte) 0xFF && bytes[1] == (byte) 0xFE);
        return isMarked || bytes[0] == 0 || bytes[1] == 0;
    }

    /** Returns the reason why a file cannot be used. Removes the file name that the exception's message may contain. */
    static String reason(IOException failure) {
        if (failure instanceof NoSuchFileException) {
            return "it does not exist";
        }
        if (failure instanceof AccessDeniedException) {
            return "this process has no permission to use it";
        }
        if (failure instanceof FileSystemException detailed) {
            return detailed.getReason() == null ? failure.toString() : detailed.getReason();
        }
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
}
