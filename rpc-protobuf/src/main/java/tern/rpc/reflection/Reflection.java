package tern.rpc.reflection;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.StatusCode;

/** Answers reflection requests, which query services, files and symbols. Immutable. */
final class Reflection {

    private final Set<String> services;
    private final FileIndex files;

    /** @param services the service names, in the order in which they are listed */
    Reflection(Set<String> services, FileIndex files) {
        this.services = services;
        this.files = files;
    }

    /**
     * Answers a request.
     *
     * @throws tern.rpc.RpcException INVALID_ARGUMENT if the bytes are not a reflection request
     */
    byte[] answer(byte[] bytes) {
        ReflectionRequest request = ReflectionRequest.read(bytes);
        ReflectionAnswer answer = new ReflectionAnswer(request);
        String name = request.name();
        return switch (request.kind()) {
            case FILE_BY_NAME -> file(answer, files.file(name), "file " + name);
            case FILE_OF_SYMBOL -> file(answer, files.fileOf(name), "symbol " + name);
            case FILE_OF_EXTENSION ->
                file(
                        answer,
                        files.fileOfExtension(name, request.number()),
                        "extension " + request.number() + " of " + name);
            case EXTENSION_NUMBERS ->
                files.isMessage(name)
                        ? answer.extensionNumbers(name, files.extensionNumbers(name))
                        : unknown(answer, "message " + name);
            case SERVICES -> answer.services(services);
            case NOTHING ->
                answer.error(StatusCode.INVALID_ARGUMENT, "this server does not support this kind of request");
        };
    }

    private byte[] file(ReflectionAnswer answer, @Nullable String fileName, String asked) {
        return fileName == null ? unknown(answer, asked) : answer.files(files.withDependencies(fileName));
    }

    private static byte[] unknown(ReflectionAnswer answer, String asked) {
        return answer.error(StatusCode.NOT_FOUND, asked + " is not known here");
    }
}
