package tern.rpc.evidence;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cgroup directories of this process. Supports cgroup v1, cgroup v2, and both at the same time. The folders of
 * parent groups are included, because their limits also apply. In each list, the folder of a group comes before the
 * folder of its parent.
 *
 * @param unified folders of version 2; only these folders contain pressure files
 */
record ControlGroups(Hierarchy cpu, Hierarchy memory, Hierarchy unified) {

    private static final int MAX_LEVELS = 8;

    /**
     * The folders for one controller.
     *
     * @param second whether these are cgroup v2 groups
     * @param folders paths without a leading slash; empty if the controller was not found
     */
    record Hierarchy(boolean second, List<String> folders) {

        static final Hierarchy NONE = new Hierarchy(true, List.of());
    }

    /** A line of {@code /proc/self/mountinfo} that describes a control group. */
    private record Mount(String root, String point, boolean second, List<String> options) {}

    static ControlGroups find(SystemFiles files) {
        List<Mount> mounts = mounts(files.text("proc/self/mountinfo"));
        String groups = files.text("proc/self/cgroup");
        Hierarchy unified = unified(files, mounts, groups);
        return new ControlGroups(
                first(files, mounts, groups, "cpu", unified), first(files, mounts, groups, "memory", unified), unified);
    }

    private static Hierarchy unified(SystemFiles files, List<Mount> mounts, String groups) {
        String path = path(groups, "");
        for (Mount mount : mounts) {
            if (mount.second && path != null) {
                return new Hierarchy(true, folders(files, mount, path));
            }
        }
        return Hierarchy.NONE;
    }

    private static Hierarchy first(
            SystemFiles files, List<Mount> mounts, String groups, String controller, Hierarchy otherwise) {
        String path = path(groups, controller);
        for (Mount mount : mounts) {
            if (path != null && !mount.second && mount.options.contains(controller)) {
                return new Hierarchy(false, folders(files, mount, path));
            }
        }
        return otherwise;
    }

    private static List<Mount> mounts(String mountinfo) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : mountinfo.split("\n")) {
            int middle = line.indexOf(" - cgroup");
            if (middle < 0) {
                continue;
            }
            String[] left = line.substring(0, middle).split(" ");
            String[] right = line.substring(middle + " - ".length()).split(" ");
            if (left.length > 4 && right.length > 2) {
                mounts.add(new Mount(left[3], left[4], right[0].equals("cgroup2"), List.of(right[2].split(","))));
            }
        }
        return mounts;
    }

    /**
     * Returns the path from a line such as {@code 4:cpu,cpuacct:/docker/1f}, or from {@code 0::/pod} if {@code
     * controller} is empty.
     */
    private static @Nullable String path(String groups, String controller) {
        for (String line : groups.split("\n")) {
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && List.of(parts[1].split(",")).contains(controller)) {
                return parts[2].strip();
            }
        }
        return null;
    }

    private static List<String> folders(SystemFiles files, Mount mount, String path) {
        String point = mount.point.substring(1);
        List<String> folders = new ArrayList<>();
        String folder = point + below(mount.root, path);
        while (folder.length() > point.length()) {
            if (folders.size() < MAX_LEVELS - 1 && files.isDirectory(folder)) {
                folders.add(folder);
            }
            folder = folder.substring(0, folder.lastIndexOf('/'));
        }
        folders.add(point);
        return folders;
    }

    /**
     * Removes the mounted group from the beginning of the path. In a container, only the container's own group is
     * mounted, but the path of the process contains this group.
     */
    private static String below(String root, String path) {
        String below = root.equals("/") ? path : path.startsWith(root) ? path.substring(root.length()) : "";
        return below.equals("/") || below.contains("..") || !below.startsWith("/") ? "" : below;
    }
}
