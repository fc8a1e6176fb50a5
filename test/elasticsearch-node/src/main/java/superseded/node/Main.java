package superseded.node;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.IOUtils;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Runs one node: {@code Main MODULES_DIRECTORY [setting=value ...]}. One byte on standard input stops it and keeps its data;
 * the end of standard input stops it and removes the data, so nothing is left when the parent dies.
 */
public final class Main {
  public static void main(String[] args) throws Exception {
    LogConfigurator.configureESLogging();
    Environment environment = environment(args);
    Node node = new Node(environment, modules(Path.of(args[0])));
    node.start();
    boolean keepData = System.in.read() >= 0;

    node.prepareForClose();
    node.close();
    node.awaitClose(10, TimeUnit.SECONDS);
    if (keepData == false) {
      IOUtils.rm(Path.of(Environment.PATH_HOME_SETTING.get(environment.settings())));
    }
    System.exit(0);
  }

  private static Environment environment(String[] args) {
    Settings.Builder settings = Settings.builder();
    for (int i = 1; i < args.length; i++) {
      String[] setting = args[i].split("=", 2);
      settings.put(setting[0], setting[1]);
    }
    return InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), null, () -> "test-node");
  }

  private static PluginsLoader modules(Path directory) {
    var bundles = PluginsLoader.loadModulesBundles(directory, false);
    // The server runs from the class path, so it has no Java module whose exports could be widened.
    return PluginsLoader.createPluginsLoader(bundles, Set.of(), Map.of(), false);
  }
}
