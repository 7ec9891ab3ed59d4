package tern.rpc.registry;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * The last readable content of a file, and the reason why its current content cannot be read.
 *
 * @param text the text of the last readable content
 * @param heard whether the file has been readable at least once
 * @param problem the reason, or empty if the content is current
 */
record FileState(String text, ProviderFile content, boolean heard, String problem) {

    static final FileState UNKNOWN = new FileState("", new ProviderFile(Map.of()), false, "");

    /**
     * Reads the file again. Changes are detected by comparing the texts, because two changes may have the same
     * timestamp.
     */
    FileState next(Path file, boolean json) {
        try {
            String read = FileText.read(file);
            return heard && problem.isEmpty() && Objects.equals(read, text)
                    ? this
                    : new FileState(read, ProviderFile.parse(read, json), true, "");
        } catch (IOException e) {
            return problem(FileText.reason(e));
        } catch (IllegalArgumentException e) {
            return problem(String.valueOf(e.getMessage()));
        }
    }

    private FileState problem(String why) {
        return new FileState(text, content, heard, why);
    }
}
