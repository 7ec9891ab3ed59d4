package tern.rpc.reflection;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.ValueType;

/** Finds or generates the protobuf file of each service. An instance is used only once. */
final class ServiceFiles {

    private final FileIndex index = new FileIndex();
    private final Set<String> added = new HashSet<>();

    private ServiceFiles() {}

    /** Returns the files of all services that can be described, with all dependencies. */
    static FileIndex of(List<tern.rpc.ServiceDescriptor> services) {
        ServiceFiles files = new ServiceFiles();
        services.forEach(files::add);
        return files.index;
    }

    private void add(tern.rpc.ServiceDescriptor service) {
        FileDescriptor declared = declaring(service);
        if (declared != null) {
            addWithDependencies(declared);
            return;
        }
        if (BuiltInFiles.describes(service.name())) {
            index.add(BuiltInFiles.of(service.name()));
            return;
        }
        MadeFile made = MadeFile.of(service);
        if (made != null) {
            made.dependencies().forEach(this::addWithDependencies);
            index.add(made.file());
        }
    }

    private void addWithDependencies(FileDescriptor file) {
        if (added.add(file.getName())) {
            index.add(file.toProto());
            file.getDependencies().forEach(this::addWithDependencies);
        }
    }

    /**
     * Returns the protobuf file that declares both the service and one of its messages; null if there is no such file.
     */
    private static @Nullable FileDescriptor declaring(tern.rpc.ServiceDescriptor service) {
        for (FileDescriptor file : filesOfMessages(service)) {
            for (ServiceDescriptor declared : file.getServices()) {
                if (declared.getFullName().equals(service.name())) {
                    return file;
                }
            }
        }
        return null;
    }

    private static List<FileDescriptor> filesOfMessages(tern.rpc.ServiceDescriptor service) {
        List<FileDescriptor> files = new ArrayList<>();
        for (MethodDescriptor method : service.methods()) {
            if (method.payload() == Payload.PROTOBUF) {
                List<ValueType> types = new ArrayList<>(method.parameters());
                types.add(method.result());
                for (ValueType type : types) {
                    Descriptor message = message(type);
                    if (message != null) {
                        files.add(message.getFile());
                    }
                }
            }
        }
        return files;
    }

    /** Returns the descriptor of a generated class; null for lite classes, which have no descriptor. */
    static @Nullable Descriptor message(ValueType type) {
        try {
            Object message = type.raw().getMethod("getDefaultInstance").invoke(null);
            return message instanceof Message full ? full.getDescriptorForType() : null;
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
