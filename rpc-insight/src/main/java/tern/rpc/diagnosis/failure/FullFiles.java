package tern.rpc.diagnosis.failure;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.evidence.OpenFiles;

/** Recognizes failures because this process has reached its limit of open files and sockets. */
public final class FullFiles {

    /** All failures because of too many open files, regardless of the code that opens a file or a socket. */
    public static final Part ALL = new Part(Kind.FAILURE, Exceptions.FULL_FILES);

    private static final Pattern ONE = Pattern.compile("^(?!SQL)\\w+ \\(" + Exceptions.FULL_FILES + "\\)(?: in .+)?$");
    private static final Pattern OF_SOCKET = Pattern.compile("^\\w*(?:Socket|Connect|Channel|Host)\\w*Exception ");
    private static final Pattern OF_FILE = Pattern.compile("^(?:FileSystem|FileNotFound|NoSuchFile)Exception ");

    private FullFiles() {}

    /** Returns whether the failure is one of these failures, or all of them together. */
    public static boolean isOne(Part failure) {
        return failure.equals(ALL)
                || (failure.kind() == Kind.FAILURE
                        && ONE.matcher(failure.name()).find());
    }

    /** Returns the kind of what the code wanted to open; null if the exception does not show it. */
    public static OpenFiles.@Nullable Kind wanted(Part failure) {
        if (OF_SOCKET.matcher(failure.name()).find()) {
            return OpenFiles.Kind.SOCKET;
        }
        return OF_FILE.matcher(failure.name()).find() ? OpenFiles.Kind.FILE : null;
    }

    /** Returns the line that failed; empty if unknown. */
    public static String place(Part failure) {
        int in = failure.name().lastIndexOf(Exceptions.IN);
        return in < 0 ? "" : failure.name().substring(in + Exceptions.IN.length());
    }
}
