package tern.rpc.reflection;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds protobuf files by their names, and by the full names that they declare. The index is filled at startup and does
 * not change afterwards. If two files have or declare the same name, the file that was added first is used.
 */
final class FileIndex {

    private record IndexedFile(byte[] bytes, List<String> dependencies) {}

    private final Map<String, IndexedFile> files = new HashMap<>();
    private final Map<String, String> fileBySymbol = new HashMap<>();
    private final Set<String> messages = new HashSet<>();

    /** The names of the files that declare extensions, by message name and extension number. */
    private final Map<String, SortedMap<Integer, String>> extensions = new HashMap<>();

    /** Adds a file to the index, without its dependencies. */
    void add(FileDescriptorProto file) {
        IndexedFile indexed = new IndexedFile(file.toByteArray(), List.copyOf(file.getDependencyList()));
        if (files.putIfAbsent(file.getName(), indexed) != null) {
            return;
        }
        String name = file.getName();
        String scope = file.getPackage();
        file.getMessageTypeList().forEach(message -> addMessage(name, scope, message));
        file.getEnumTypeList().forEach(enumeration -> addEnum(name, scope, enumeration));
        file.getExtensionList().forEach(extension -> addExtension(name, scope, extension));
        for (ServiceDescriptorProto service : file.getServiceList()) {
            String serviceName = addSymbol(name, scope, service.getName());
            for (MethodDescriptorProto method : service.getMethodList()) {
                addSymbol(name, serviceName, method.getName());
            }
        }
    }

    private void addMessage(String file, String scope, DescriptorProto message) {
        String fullName = addSymbol(file, scope, message.getName());
        messages.add(fullName);
        for (FieldDescriptorProto field : message.getFieldList()) {
            addSymbol(file, fullName, field.getName());
        }
        for (OneofDescriptorProto oneof : message.getOneofDeclList()) {
            addSymbol(file, fullName, oneof.getName());
        }
        message.getNestedTypeList().forEach(nested -> addMessage(file, fullName, nested));
        message.getEnumTypeList().forEach(enumeration -> addEnum(file, fullName, enumeration));
        message.getExtensionList().forEach(extension -> addExtension(file, fullName, extension));
    }

    /**
     * Adds an enum. The names of the enum's values belong to the scope that contains the enum, and not to the enum
     * itself (descriptor.proto, EnumValueDescriptorProto).
     */
    private void addEnum(String file, String scope, EnumDescriptorProto enumeration) {
        addSymbol(file, scope, enumeration.getName());
        for (EnumValueDescriptorProto value : enumeration.getValueList()) {
            addSymbol(file, scope, value.getName());
        }
    }

    private void addExtension(String file, String scope, FieldDescriptorProto extension) {
        addSymbol(file, scope, extension.getName());
        String extendee = extension.getExtendee();
        extensions
                .computeIfAbsent(extendee.startsWith(".") ? extendee.substring(1) : extendee, name -> new TreeMap<>())
                .putIfAbsent(extension.getNumber(), file);
    }

    private String addSymbol(String file, String scope, String name) {
        String fullName = scope.isEmpty() ? name : scope + "." + name;
        fileBySymbol.putIfAbsent(fullName, file);
        return fullName;
    }

    /** Returns the name if the index contains a file with this name, otherwise null. */
    @Nullable
    String file(String name) {
        return files.containsKey(name) ? name : null;
    }

    /** Returns the name of the file that declares this symbol; null if no file declares it. */
    @Nullable
    String fileOf(String symbol) {
        return fileBySymbol.get(symbol);
    }

    @Nullable
    String fileOfExtension(String message, int number) {
        return extensions.getOrDefault(message, new TreeMap<>()).get(number);
    }

    boolean isMessage(String name) {
        return messages.contains(name);
    }

    /** Returns a message's extension numbers in ascending order. */
    Collection<Integer> extensionNumbers(String message) {
        return extensions.getOrDefault(message, new TreeMap<>()).keySet();
    }

    /** Returns the encoded file, followed by each of its dependencies once. */
    List<byte[]> withDependencies(String name) {
        Set<String> reached = new LinkedHashSet<>(List.of(name));
        List<String> open = new ArrayList<>(reached);
        List<byte[]> found = new ArrayList<>();
        for (int i = 0; i < open.size(); i++) {
            IndexedFile file = files.get(open.get(i));
            if (file != null) {
                found.add(file.bytes());
                file.dependencies().stream().filter(reached::add).forEach(open::add);
            }
        }
        return found;
    }
}
