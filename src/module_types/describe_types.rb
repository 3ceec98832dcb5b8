# frozen_string_literal: true

# Loads the type files of Puppet modules and prints their attributes as JSON:
#
#   ruby describe_types.rb DIR... > types.json
#
# Needs Puppet or OpenVox. The code of the types is executed; providers are not loaded.
# `switchtender model import` runs this program, or reads its output from another host.

require 'json'
begin
  require 'puppet'
rescue LoadError
  abort 'this Ruby has neither Puppet nor OpenVox'
end

# A type may print.
output = $stdout.dup
$stdout.reopen($stderr)

Puppet.initialize_settings(['--confdir', '/nonexistent', '--vardir', '/nonexistent', '--logdir', '/nonexistent'])
Puppet::Util::Autoload.prepend(Module.new { def loadall(*) end })
declared = {}
recorder = Module.new { define_method(:newtype) { |name, *rest, &block| declared[name.to_s] = super(name, *rest, &block) } }
Puppet::Type.singleton_class.prepend(recorder)

def classic_attribute(type, name)
  attribute = type.attrclass(name)
  methods = { default: 'the default', unsafe_munge: 'the conversion', unsafe_validate: 'the check' }
  left_out = methods.select { |method, _| attribute.instance_methods(false).include?(method) }.values
  values = attribute.value_collection
  left_out.unshift('values that are not names') unless values.regexes.empty?
  role = type.validproperty?(name) ? 'property' : 'parameter'
  { name: name, doc: attribute.instance_variable_get(:@doc), role: type.key_attributes.include?(name) ? 'namevar' : role,
    values: values.regexes.empty? ? values.values : [], is_list: role == 'property' && attribute.array_matching == :all,
    left_out: left_out }
end

def classic(type)
  names = type.parameters + type.properties.map(&:name)
  relations = %w[autorequire autobefore autosubscribe autonotify].select { |kind| type.to_enum("each#{kind}").any? }
  { style: 'classic', doc: type.instance_variable_get(:@doc), is_ensurable: names.include?(:ensure),
    attributes: (names - %i[ensure provider]).map { |name| classic_attribute(type, name) },
    left_out: relations + (type.key_attributes.size > 1 ? ['title_patterns'] : []) }
end

def resource_api(definition)
  supported = %i[name desc docs features attributes title_patterns autorequire autobefore autosubscribe autonotify]
  attributes = definition[:attributes].map do |name, options|
    { name: name, doc: options[:desc] || options[:docs], role: options[:behaviour] || 'property', type: options[:type],
      default: options[:default], is_sensitive: options[:sensitive] == true }
  end
  { style: 'resource_api', doc: definition[:desc], attributes: attributes,
    title_patterns: (definition[:title_patterns] || []).map { |title| title[:pattern].source },
    relations: definition.slice(:autorequire, :autobefore, :autosubscribe, :autonotify),
    left_out: (definition.keys - supported) }
end

files = ARGV.flat_map do |path|
  found = File.directory?(path) ? Dir.glob('**/*.rb', base: path).sort.map { |name| File.join(path, name) } : nil
  found ? found.select { |file| File.expand_path(File.dirname(file)).end_with?('/lib/puppet/type') } : [path]
end
$LOAD_PATH.unshift(*files.map { |file| File.expand_path('../..', File.dirname(file)) }.uniq)
types = files.map do |file|
  name = File.basename(file, '.rb')
  declared.delete(name)
  load File.expand_path(file)
  type = declared.fetch(name) { raise "the file declares no type #{name}" }
  is_api = type.respond_to?(:type_definition)
  described = is_api ? resource_api(type.type_definition.definition) : classic(type)
  { file: file, name: name, runs_on: type.apply_to }.merge(described)
rescue StandardError, ScriptError => error
  { file: file, error: error.message.lines.first.to_s.strip.sub("#{File.expand_path(file)}:", 'line ') }
end
output.puts JSON.generate(version: 1, types: types)
